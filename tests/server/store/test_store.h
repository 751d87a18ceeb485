// What the store's tests share: a directory of their own, a run with tasks, results for them, and a
// second look at the file by SQLite alone.
#ifndef ASSAY_TESTS_SERVER_STORE_TEST_STORE_H_
#define ASSAY_TESTS_SERVER_STORE_TEST_STORE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/message.h"
#include "server/store/sqlite_store.h"

namespace assay::store {

// Removed with everything in it when destroyed.
class TestDirectory {
 public:
  TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  ~TestDirectory();
  std::string File(absl::string_view name) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Opens, and creates where nothing is.
std::unique_ptr<Store> OpenOrDie(SqliteOptions options);
std::unique_ptr<Store> OpenOrDie(const std::string& path);

// The id of the message that an error carries; "" for none.
std::string IdOf(const absl::Status& status);

inline absl::Time TestTime(int seconds = 0) {
  return absl::FromUnixSeconds(1796083200 + seconds);  // 2026-12-01 00:00:00 UTC
}

v1::Document ServerDocument(const std::string& name, const std::string& seller = "");

// A run of plan "acceptance" on servers "hk-1" (even tasks) and "gy-1" (odd) from vantage
// "sz-office", with `tasks` pending tasks.
RunRecord TestRun(const std::string& id);
std::vector<TaskRecord> TestTasks(const std::string& run, uint32_t tasks);
void InsertTestRun(Store& store, const std::string& id, uint32_t tasks);

// A good result for the task's first attempt, with two metrics and evidence of `evidence_bytes`.
NewResult TestResult(const std::string& run, uint32_t task, size_t evidence_bytes = 100);
// Appends and waits.
absl::StatusOr<AppendResult> Append(Store& store, NewResult result);

// The first column of every row, by a connection of its own.
std::vector<std::string> RawQuery(const std::string& path, const std::string& sql);
// {"ok"} for a sound file.
std::vector<std::string> IntegrityOf(const std::string& path);

// Transactions in the write-ahead log, by its own format (https://sqlite.org/fileformat2.html,
// section 4): frames that carry a commit mark and the log's present salt.
int CommitsInLog(const std::string& path);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& content);

// A mount namespace of this thread's own (threads started from now on are in it too), so that
// mounts vanish with the test. False: not allowed here.
bool EnterOwnMounts();

}  // namespace assay::store

#endif  // ASSAY_TESTS_SERVER_STORE_TEST_STORE_H_
