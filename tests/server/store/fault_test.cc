// The disk fails at every single call in turn, until an operation no longer meets the fault. Each
// time: what was reported as stored is stored, what was reported as failed is not, and the store
// goes on.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/server/store/fault_vfs.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;

struct Fault {
  FaultVfs::Kind kind;
  bool lasting;
  const char* name;
};

constexpr Fault kFaults[] = {
    {FaultVfs::Kind::kFull, false, "full once"},
    {FaultVfs::Kind::kFull, true, "full for good"},
    {FaultVfs::Kind::kInputOutput, false, "I/O error once"},
    {FaultVfs::Kind::kInputOutput, true, "I/O error for good"},
};

// Beyond any number of calls that one operation makes.
constexpr int kMany = 2000;

class FaultTest : public ::testing::Test {
 protected:
  // A copy of what a killed process would leave, opened by itself.
  std::vector<std::string> AfterKill(const std::string& path, const std::string& sql) {
    TestDirectory grave;
    for (const char* suffix : {"", "-wal"}) {
      if (!std::filesystem::exists(path + suffix)) continue;
      std::filesystem::copy_file(path + suffix, grave.File("db") + suffix);
    }
    EXPECT_THAT(IntegrityOf(grave.File("db")), ElementsAre("ok"));
    return RawQuery(grave.File("db"), sql);
  }

  SqliteOptions Options(const std::string& path) {
    SqliteOptions options;
    options.path = path;
    options.vfs = vfs_.name();
    options.checkpoint_frames = 1;  // each commit is followed by a checkpoint, which may fail too
    options.busy_timeout = absl::Milliseconds(100);
    return options;
  }

  FaultVfs vfs_{"assay_fault"};
};

TEST_F(FaultTest, AppendIsAllOrNothingWhicheverCallFails) {
  const std::string tasks_done = "SELECT count(*) FROM tasks WHERE state = 3";
  for (const Fault& fault : kFaults) {
    int nth = 1;
    int failures = 0;
    for (bool met = true; met; ++nth) {
      ASSERT_LT(nth, kMany);
      SCOPED_TRACE(absl::StrCat(fault.name, ", call ", nth));
      TestDirectory directory;
      const std::string path = directory.File("assay.db");
      std::unique_ptr<Store> store = OpenOrDie(Options(path));
      InsertTestRun(*store, "run-1", 3);
      ASSERT_TRUE(Append(*store, TestResult("run-1", 0)).ok());

      vfs_.Arm(nth, fault.kind, fault.lasting);
      absl::StatusOr<AppendResult> appended = Append(*store, TestResult("run-1", 1, 9000));
      // The checkpoint comes after the answer; another request waits for its end.
      store->PutDocuments({}).IgnoreError();
      met = vfs_.Disarm() > 0;

      const char* expected = appended.ok() ? "2" : "1";
      if (!appended.ok()) {
        ++failures;
        EXPECT_THAT(appended.status().code(),
                    AnyOf(absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnavailable))
            << appended.status();
        EXPECT_EQ(store->ListTasks("run-1")->at(1).state, v1::TASK_STATE_PENDING);
      }
      EXPECT_EQ(store->ListResults({})->size(), appended.ok() ? 2u : 1u);
      // Also for the next process, if this one died now. A disk that fails for good may keep the
      // trace of the commit that it could not confirm.
      if (appended.ok() || !fault.lasting) {
        EXPECT_THAT(AfterKill(path, "SELECT count(*) FROM results"), ElementsAre(expected));
        EXPECT_THAT(AfterKill(path, tasks_done), ElementsAre(expected));
      }

      // The disk works again: the agent sends both once more.
      EXPECT_EQ(Append(*store, TestResult("run-1", 1, 9000))->outcome,
                appended.ok() ? AppendOutcome::kDuplicate : AppendOutcome::kStored);
      EXPECT_EQ(Append(*store, TestResult("run-1", 2))->outcome, AppendOutcome::kStored);
      store.reset();
      EXPECT_THAT(IntegrityOf(path), ElementsAre("ok"));
      EXPECT_THAT(RawQuery(path, "SELECT task FROM results ORDER BY task"),
                  ElementsAre("0", "1", "2"));
      EXPECT_THAT(RawQuery(path, "SELECT count(*) FROM metrics"), ElementsAre("6"));
      EXPECT_THAT(RawQuery(path, tasks_done), ElementsAre("3"));
      EXPECT_THAT(RawQuery(path,
                           "SELECT length(evidence_zstd) FROM evidence JOIN results "
                           "ON results.id = result_id WHERE task = 1"),
                  ElementsAre("9000"));
      if (HasFailure()) return;
    }
    EXPECT_GT(failures, 2) << fault.name;
  }
}

TEST_F(FaultTest, DatabaseIsMadeWholeOrNotAtAllWhicheverCallFails) {
  for (const Fault& fault : kFaults) {
    int nth = 1;
    int failures = 0;
    for (bool met = true; met; ++nth) {
      ASSERT_LT(nth, kMany);
      SCOPED_TRACE(absl::StrCat(fault.name, ", call ", nth));
      TestDirectory directory;
      const std::string path = directory.File("assay.db");
      SqliteOptions options = Options(path);
      options.create = true;

      vfs_.Arm(nth, fault.kind, fault.lasting);
      absl::StatusOr<std::unique_ptr<Store>> store = OpenSqliteStore(options);
      met = vfs_.Disarm() > 0;

      if (!store.ok()) {
        ++failures;
        EXPECT_FALSE(std::filesystem::exists(path));
        EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
        store = OpenSqliteStore(options);
      }
      ASSERT_TRUE(store.ok()) << store.status();
      InsertTestRun(**store, "run-1", 1);
      EXPECT_TRUE(Append(**store, TestResult("run-1", 0)).ok());
      store->reset();
      EXPECT_THAT(IntegrityOf(path), ElementsAre("ok"));
      if (HasFailure()) return;
    }
    EXPECT_GT(failures, 2) << fault.name;
  }
}

TEST_F(FaultTest, WhatWasAcknowledgedSurvivesAPowerCut) {
  TestDirectory directory;
  const std::string path = directory.File("assay.db");
  SqliteOptions options = Options(path);
  vfs_.Remember();
  options.checkpoint_frames = 40;  // some of the cuts come before, some after a checkpoint
  std::unique_ptr<Store> store = OpenOrDie(options);
  InsertTestRun(*store, "run-1", 60);

  for (uint32_t task = 0; task < 60; ++task) {
    ASSERT_TRUE(Append(*store, TestResult("run-1", task, 2000)).ok());
    // Only what was synced is left.
    TestDirectory grave;
    std::map<std::string, std::string> synced = vfs_.Synced();
    WriteFile(grave.File("db"), synced[path]);
    if (synced.count(path + "-wal") > 0) WriteFile(grave.File("db-wal"), synced[path + "-wal"]);
    ASSERT_THAT(IntegrityOf(grave.File("db")), ElementsAre("ok"));
    ASSERT_THAT(RawQuery(grave.File("db"), "SELECT count(*) FROM results"),
                ElementsAre(absl::StrCat(task + 1)));
  }
}

}  // namespace
}  // namespace assay::store
