#include "server/store/connection.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/store/failures.h"

namespace assay::store {

int64_t ToMicros(absl::Time time) { return absl::ToUnixMicros(time); }  // saturates

absl::Time FromMicros(int64_t micros) {
  if (micros == std::numeric_limits<int64_t>::max()) return absl::InfiniteFuture();
  if (micros == std::numeric_limits<int64_t>::min()) return absl::InfinitePast();
  return absl::FromUnixMicros(micros);
}

// ---- Statement

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      in_use_(other.in_use_),
      column_(other.column_),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  if (in_use_ == nullptr) {
    sqlite3_finalize(statement_);
    return;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  *in_use_ = false;
}

absl::StatusOr<bool> Statement::Next() {
  if (bind_error_ != SQLITE_OK) return connection_->Failure(bind_error_);
  column_ = 0;
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->Failure(code);
}

int64_t Statement::TakeInt() { return sqlite3_column_int64(statement_, column_++); }

std::string Statement::TakeText() {
  int column = column_++;
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return "";
  return std::string(reinterpret_cast<const char*>(text),
                     static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

absl::Time Statement::TakeTime() { return FromMicros(TakeInt()); }

std::optional<int64_t> Statement::TakeOptionalInt() {
  if (sqlite3_column_type(statement_, column_) == SQLITE_NULL) {
    ++column_;
    return std::nullopt;
  }
  return TakeInt();
}

std::optional<absl::Time> Statement::TakeOptionalTime() {
  std::optional<int64_t> micros = TakeOptionalInt();
  if (!micros.has_value()) return std::nullopt;
  return FromMicros(*micros);
}

std::optional<absl::string_view> Statement::TakeOptionalBlob() {
  int column = column_++;
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  const void* bytes = sqlite3_column_blob(statement_, column);
  return absl::string_view(static_cast<const char*>(bytes),
                           static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

absl::Status Statement::TakeMessage(google::protobuf::MessageLite& message) {
  int column = column_++;
  const void* bytes = sqlite3_column_blob(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  if (message.ParseFromArray(bytes, size)) return absl::OkStatus();
  return connection_->Damaged(absl::StrCat("the column ", sqlite3_column_name(statement_, column),
                                           " of ", sqlite3_column_table_name(statement_, column),
                                           " is not readable"));
}

void Statement::Note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::Bind(int index, int64_t value) {
  Note(sqlite3_bind_int64(statement_, index, value));
}

void Statement::Bind(int index, absl::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  Note(sqlite3_bind_text64(statement_, index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::Bind(int index, Blob blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  Note(sqlite3_bind_blob64(statement_, index, data, blob.bytes.size(), SQLITE_TRANSIENT));
}

void Statement::Bind(int index, Null) { Note(sqlite3_bind_null(statement_, index)); }

void Statement::Bind(int index, absl::Time time) { Bind(index, ToMicros(time)); }

// ---- Connection

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Options& options) {
  sqlite3* handle = nullptr;
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
              (options.mode == Mode::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  int code = sqlite3_open_v2(options.path.c_str(), &handle, flags,
                             options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<Connection> connection(new Connection(handle, options.path));
  if (code != SQLITE_OK) return connection->Failure(code);
  ASSAY_RETURN_IF_ERROR(connection->Configure(options));
  return connection;
}

absl::Status Connection::Configure(const Options& options) {
  // SQLite falls back to reading where it may not write.
  if (options.mode == Mode::kWrite && sqlite3_db_readonly(handle_, "main") == 1) {
    return Failure(SQLITE_READONLY);
  }
  sqlite3_busy_timeout(handle_, static_cast<int>(absl::ToInt64Milliseconds(options.busy_timeout)));
  const std::pair<int, int> switches[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_DQS_DML, 0},
      {SQLITE_DBCONFIG_DQS_DDL, 0},        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
  };
  for (auto [name, value] : switches) {
    int now = -1;
    int code = sqlite3_db_config(handle_, name, value, &now);
    if (code != SQLITE_OK || now != value) return Failure(code == SQLITE_OK ? SQLITE_ERROR : code);
  }
  ASSAY_RETURN_IF_ERROR(Script("PRAGMA synchronous = FULL"));
  ASSAY_RETURN_IF_ERROR(Script("PRAGMA cell_size_check = ON"));
  ASSAY_RETURN_IF_ERROR(Script("PRAGMA temp_store = MEMORY"));
  if (options.mode == Mode::kRead) ASSAY_RETURN_IF_ERROR(Script("PRAGMA query_only = ON"));
  return absl::OkStatus();
}

Connection::~Connection() {
  for (auto& [sql, cached] : statements_) sqlite3_finalize(cached.statement);
  sqlite3_close(handle_);
}

absl::StatusOr<Statement> Connection::Prepare(absl::string_view sql) {
  Cached& cached = statements_[std::string(sql)];
  // The same text again while it is being read: a statement of its own.
  bool keep = !cached.in_use;
  if (keep && cached.statement != nullptr) {
    cached.in_use = true;
    return Statement(this, cached.statement, &cached.in_use);
  }
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                keep ? SQLITE_PREPARE_PERSISTENT : 0, &statement, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  if (!keep) return Statement(this, statement, nullptr);
  cached = {statement, true};
  return Statement(this, statement, &cached.in_use);
}

absl::Status Connection::Script(const std::string& sql) {
  int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Failure(code);
}

absl::StatusOr<int64_t> Connection::QueryInt(absl::string_view sql) {
  ASSAY_ASSIGN_OR_RETURN(Statement statement, Query(sql));
  ASSAY_ASSIGN_OR_RETURN(bool row, statement.Next());
  if (!row) return Damaged(absl::StrCat("no answer to ", sql));
  return statement.TakeInt();
}

absl::Status Connection::Failure(int code) const {
  if (handle_ == nullptr) return SqliteFailure(path_, SQLITE_NOMEM, 0, "out of memory");
  return SqliteFailure(path_, code, sqlite3_system_errno(handle_), sqlite3_errmsg(handle_));
}

absl::Status Connection::Damaged(absl::string_view what) const {
  return DamagedFailure(path_, what);
}

}  // namespace assay::store
