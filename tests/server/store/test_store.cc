#include "tests/server/store/test_store.h"

#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/files/files.h"

namespace assay::store {
namespace {

uint32_t BigEndian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

TestDirectory::TestDirectory() {
  // In memory where there is such a place: these tests sync thousands of times.
  std::string parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir();
  std::string path = absl::StrCat(parent, "assay_store_XXXXXX");
  if (mkdtemp(path.data()) == nullptr) std::abort();
  path_ = path;
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestDirectory::File(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

std::unique_ptr<Store> OpenOrDie(SqliteOptions options) {
  options.create = true;
  absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(options);
  if (store.ok()) return *std::move(store);
  ADD_FAILURE() << store.status();
  std::abort();
}

std::unique_ptr<Store> OpenOrDie(const std::string& path) {
  SqliteOptions options;
  options.path = path;
  return OpenOrDie(options);
}

std::string IdOf(const absl::Status& status) {
  std::optional<v1::Message> message = MessageOf(status);
  return message.has_value() ? message->id() : "";
}

v1::Document ServerDocument(const std::string& name, const std::string& seller) {
  v1::Document document;
  document.mutable_server()->set_name(name);
  document.mutable_server()->add_addresses("192.0.2.1");
  document.mutable_server()->set_seller(seller);
  return document;
}

RunRecord TestRun(const std::string& id) {
  RunRecord run;
  run.id = id;
  run.plan.set_name("acceptance");
  run.plan.add_servers("hk-1");
  run.plan.add_servers("gy-1");
  for (const char* name : {"hk-1", "gy-1"}) {
    run.servers.push_back(ServerDocument(name).server());
  }
  run.vantages.emplace_back().set_name("sz-office");
  run.criteria.emplace_back().set_id("peak-loss");
  run.criteria.emplace_back().set_id("connect");
  run.seed = 0xfedcba9876543210u;
  run.started_by = "procurement";
  run.started_at = TestTime();
  run.planned_end_at = TestTime(3600);
  return run;
}

std::vector<TaskRecord> TestTasks(const std::string& run, uint32_t tasks) {
  std::vector<TaskRecord> records(tasks);
  for (uint32_t i = 0; i < tasks; ++i) {
    TaskRecord& task = records[i];
    task.run = run;
    task.index = i;
    task.server = i % 2 == 0 ? "hk-1" : "gy-1";
    task.vantage = "sz-office";
    task.probe = "echo";
    task.window = "peak";
    task.day = absl::CivilDay(2026, 12, 1);
    task.due = TestTime(static_cast<int>(i)) + absl::Microseconds(123456);
    task.window_end = TestTime(3600);
    task.time_limit = absl::Seconds(90);
  }
  return records;
}

void InsertTestRun(Store& store, const std::string& id, uint32_t tasks) {
  absl::Status inserted = store.InsertRun(TestRun(id), TestTasks(id, tasks));
  ASSERT_TRUE(inserted.ok()) << inserted;
}

NewResult TestResult(const std::string& run, uint32_t task, size_t evidence_bytes) {
  NewResult result;
  result.ref.set_run(run);
  result.ref.set_task(task);
  result.ref.set_attempt(1);
  result.agent_id = "a-sz";
  result.received_at = TestTime(60);
  result.result.set_outcome(v1::OUTCOME_OK);
  result.result.set_evidence_zstd(std::string(evidence_bytes, static_cast<char>('a' + task % 26)));
  v1::Metric& loss = result.metrics.emplace_back();
  loss.set_name("icmp.loss_ratio");
  loss.mutable_proportion()->set_events(task);
  loss.mutable_proportion()->set_trials(100);
  v1::Metric& rtt = result.metrics.emplace_back();
  rtt.set_name("icmp.rtt_ms");
  rtt.mutable_samples()->add_values(8.25 + task);
  result.evidence_sha256 = absl::StrCat("sha-", task);
  return result;
}

absl::StatusOr<AppendResult> Append(Store& store, NewResult result) {
  auto ended = std::make_shared<std::promise<absl::StatusOr<AppendResult>>>();
  std::future<absl::StatusOr<AppendResult>> outcome = ended->get_future();
  store.AppendResultAsync(std::move(result), [ended](absl::StatusOr<AppendResult> appended) {
    ended->set_value(std::move(appended));
  });
  return outcome.get();
}

std::vector<std::string> RawQuery(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  std::vector<std::string> rows;
  char* error = nullptr;
  auto take = [](void* into, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(values[0] ? values[0] : "NULL");
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), take, &rows, &error), SQLITE_OK) << error;
  sqlite3_free(error);
  sqlite3_close(handle);
  return rows;
}

std::vector<std::string> IntegrityOf(const std::string& path) {
  std::vector<std::string> findings = RawQuery(path, "PRAGMA integrity_check");
  for (const std::string& row : RawQuery(path, "PRAGMA foreign_key_check")) {
    findings.push_back("dangling reference in " + row);
  }
  return findings;
}

int CommitsInLog(const std::string& path) {
  constexpr size_t kHeader = 32;
  constexpr size_t kFrameHeader = 24;
  std::string log = ReadFile(path + "-wal");
  if (log.size() < kHeader) return 0;
  size_t page = BigEndian(log, 8);
  int commits = 0;
  for (size_t at = kHeader; at + kFrameHeader + page <= log.size(); at += kFrameHeader + page) {
    if (log.compare(at + 8, 8, log, 16, 8) != 0) break;  // of an earlier round
    if (BigEndian(log, at + 4) != 0) ++commits;
  }
  return commits;
}

std::string ReadFile(const std::string& path) { return files::Read(path).value_or(""); }

void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

bool EnterOwnMounts() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace assay::store
