// One SQLite connection: how it is opened, its prepared statements, and what its errors mean.
//
// Not thread-safe; whoever has it uses it alone. Statements are prepared once a connection and kept
// under their text, so a text is a constant with placeholders ?1, ?2, ... and never holds values.
#ifndef ASSAY_SERVER_STORE_CONNECTION_H_
#define ASSAY_SERVER_STORE_CONNECTION_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "google/protobuf/message_lite.h"

namespace assay::store {

// Bytes for a BLOB column; std::string and string_view are TEXT. Empty is an empty BLOB, not NULL.
struct Blob {
  absl::string_view bytes;
};
struct Null {};

class Connection;

// A prepared statement with its values. Columns are taken from left to right, as the SELECT names
// them. Goes back to its connection when destroyed, and must not outlive it.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // True: there is a row, and the next column is its first one. False: that was all.
  absl::StatusOr<bool> Next();

  int64_t TakeInt();
  std::string TakeText();
  absl::Time TakeTime();
  std::optional<absl::Time> TakeOptionalTime();  // NULL: nothing
  // The bytes are good until the next Next().
  std::optional<absl::string_view> TakeOptionalBlob();
  std::optional<int64_t> TakeOptionalInt();
  // DATA_LOSS where the column does not hold that message.
  absl::Status TakeMessage(google::protobuf::MessageLite& message);
  template <typename Enum>
  Enum TakeEnum() {
    return static_cast<Enum>(TakeInt());
  }

 private:
  friend class Connection;
  Statement(Connection* connection, sqlite3_stmt* statement, bool* in_use)
      : connection_(connection), statement_(statement), in_use_(in_use) {}

  void Bind(int index, int64_t value);
  void Bind(int index, absl::string_view text);
  void Bind(int index, Blob blob);
  void Bind(int index, Null null);
  void Bind(int index, absl::Time time);
  template <typename Value>
  void Bind(int index, const std::optional<Value>& value) {
    if (value.has_value()) {
      Bind(index, *value);
    } else {
      Bind(index, Null{});
    }
  }
  void Note(int code);  // the first error of the bindings; Next() reports it

  Connection* connection_;
  sqlite3_stmt* statement_;
  bool* in_use_;  // of the cached entry; null: this one owns the statement
  int column_ = 0;
  int bind_error_ = SQLITE_OK;
};

class Connection {
 public:
  enum class Mode {
    kWrite,  // the file must be writable
    kRead,   // refuses every change
  };
  struct Options {
    std::string path;
    Mode mode = Mode::kRead;
    std::string vfs;  // empty: SQLite's default
    absl::Duration busy_timeout = absl::Seconds(5);
  };
  // The file must exist.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const Options& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Prepares and binds; values are copied.
  template <typename... Values>
  absl::StatusOr<Statement> Query(absl::string_view sql, const Values&... values) {
    ASSAY_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
    int index = 0;
    (statement.Bind(++index, Bindable(values)), ...);
    return statement;
  }
  // Runs a statement that gives no rows.
  template <typename... Values>
  absl::Status Run(absl::string_view sql, const Values&... values) {
    ASSAY_ASSIGN_OR_RETURN(Statement statement, Query(sql, values...));
    return statement.Next().status();
  }
  // Runs every statement of a text, unprepared.
  absl::Status Script(const std::string& sql);
  // The only column of the only row, such as a PRAGMA's.
  absl::StatusOr<int64_t> QueryInt(absl::string_view sql);

  int64_t last_insert_id() const { return sqlite3_last_insert_rowid(handle_); }
  // Rows that the last Run() changed.
  int64_t changes() const { return sqlite3_changes64(handle_); }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

  // The status for a result code of the last call. Constraint violations are ALREADY_EXISTS
  // (UNIQUE, PRIMARY KEY) or FAILED_PRECONDITION (FOREIGN KEY) for the caller to put into words.
  absl::Status Failure(int code) const;
  // DATA_LOSS: what was read cannot have been written by this program.
  absl::Status Damaged(absl::string_view what) const;

 private:
  friend class Statement;
  struct Cached {
    sqlite3_stmt* statement = nullptr;
    bool in_use = false;
  };

  Connection(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  absl::StatusOr<Statement> Prepare(absl::string_view sql);
  absl::Status Configure(const Options& options);

  template <typename Value>
  static auto Bindable(const Value& value) {
    if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      return static_cast<int64_t>(value);
    } else if constexpr (std::is_convertible_v<const Value&, absl::string_view>) {
      return absl::string_view(value);
    } else {
      return value;
    }
  }

  sqlite3* handle_;
  std::string path_;
  std::unordered_map<std::string, Cached> statements_;
};

// Microseconds since 1970; the infinite ends of time are the ends of the range.
int64_t ToMicros(absl::Time time);
absl::Time FromMicros(int64_t micros);

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_CONNECTION_H_
