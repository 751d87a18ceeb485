// Many requests, one commit: what the writer promises.
#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/server/store/fault_vfs.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;

// Holds the writer inside a transaction until it is opened, so that a test decides what is queued
// together.
class Gate {
 public:
  explicit Gate(Store& store) {
    thread_ = std::thread([this, &store] {
      TokenRecord token;
      token.token_sha256 = "gate";
      token.subject = {v1::SUBJECT_KIND_PERSON, "gate", v1::ROLE_VIEWER};
      token.expires_at = TestTime(1);
      store.PutToken(token).IgnoreError();
      // The certificate is refused, so this transaction leaves nothing.
      store
          .RedeemToken("gate", TestTime(),
                       [this](const Subject&) {
                         held_.count_down();
                         open_.wait();
                         return absl::StatusOr<CertificateRecord>(absl::CancelledError("gate"));
                       })
          .IgnoreError();
    });
    held_.wait();
  }
  ~Gate() {
    open_.count_down();
    thread_.join();
  }

 private:
  std::latch held_{1};
  std::latch open_{1};
  std::thread thread_;
};

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() {
    options_.path = directory_.File("assay.db");
    options_.checkpoint_frames = 1 << 30;  // the log keeps every commit, to be counted
  }

  TestDirectory directory_;
  SqliteOptions options_;
};

TEST_F(WriterTest, WhatIsQueuedSharesOneCommit) {
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 640);
  std::latch answered(640);
  std::atomic<int> stored = 0;
  int before = 0;
  {
    Gate gate(*store);
    before = CommitsInLog(options_.path);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 32; ++t) {
      threads.emplace_back([&, t] {
        for (uint32_t i = t * 20; i < t * 20 + 20; ++i) {
          store->AppendResultAsync(TestResult("run-1", i), [&](absl::StatusOr<AppendResult> r) {
            if (r.ok() && r->outcome == AppendOutcome::kStored) ++stored;
            answered.count_down();
          });
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(stored, 0);
    EXPECT_EQ(CommitsInLog(options_.path), before);
  }
  answered.wait();

  EXPECT_EQ(stored, 640);
  // The gate's own transaction changed nothing, so it left no frame.
  EXPECT_EQ(CommitsInLog(options_.path), before + 1);
}

TEST_F(WriterTest, EachBlockingCallIsItsOwnCommitWhenNothingElseWaits) {
  std::unique_ptr<Store> store = OpenOrDie(options_);
  int before = CommitsInLog(options_.path);

  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store->PutDocuments({ServerDocument(absl::StrCat("hk-", i))}).ok());
  }

  EXPECT_EQ(CommitsInLog(options_.path), before + 5);
}

TEST_F(WriterTest, CommitIsSyncedBeforeItIsAnswered) {
  FaultVfs vfs("assay_sync_count");
  options_.vfs = vfs.name();
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 3);

  for (uint32_t i = 0; i < 3; ++i) {
    int before = vfs.syncs();
    store->AppendResultAsync(TestResult("run-1", i),
                             [&](absl::StatusOr<AppendResult>) { EXPECT_GT(vfs.syncs(), before); });
    ASSERT_TRUE(store->PutDocuments({}).ok());
  }
}

TEST_F(WriterTest, FailingRequestUndoesItselfAloneWithinTheCommit) {
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 20);
  std::latch answered(20);
  std::vector<absl::StatusOr<AppendResult>> outcomes(20);
  {
    Gate gate(*store);
    for (uint32_t i = 0; i < 20; ++i) {
      NewResult result = TestResult("run-1", i);
      // Fails at its last step, after the result and its first metrics were inserted.
      if (i % 3 == 0) result.metrics.push_back(result.metrics[0]);
      store->AppendResultAsync(std::move(result), [&, i](absl::StatusOr<AppendResult> outcome) {
        outcomes[i] = std::move(outcome);
        answered.count_down();
      });
    }
  }
  answered.wait();

  std::vector<TaskRecord> tasks = store->ListTasks("run-1").value();
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(outcomes[i].ok(), i % 3 != 0) << i;
    EXPECT_EQ(tasks[i].state, i % 3 == 0 ? v1::TASK_STATE_PENDING : v1::TASK_STATE_DONE) << i;
  }
  EXPECT_EQ(store->ListResults({})->size(), 13u);
  store.reset();
  EXPECT_THAT(RawQuery(options_.path, "SELECT count(*) FROM metrics"), ElementsAre("26"));
}

TEST_F(WriterTest, CommitThatFailsFailsAllOfItsRequestsAndNothingIsStored) {
  FaultVfs vfs("assay_commit_fault");
  options_.vfs = vfs.name();
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 10);
  std::latch answered(11);
  std::vector<absl::Status> statuses(11);
  {
    Gate gate(*store);
    for (uint32_t i = 0; i < 11; ++i) {
      // The last repeats the first: "duplicate" would be untrue, since the first is lost.
      store->AppendResultAsync(TestResult("run-1", i % 10),
                               [&, i](absl::StatusOr<AppendResult> outcome) {
                                 statuses[i] = outcome.status();
                                 answered.count_down();
                               });
    }
    vfs.Arm(1, FaultVfs::Kind::kFull, /*lasting=*/true);
  }
  answered.wait();
  vfs.Disarm();

  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(IdOf(status), "store.full");
  }
  EXPECT_TRUE(store->ListResults({})->empty());
  EXPECT_EQ(store->CountTasks("run-1", "")->pending(), 10u);
  EXPECT_EQ(Append(*store, TestResult("run-1", 0))->outcome, AppendOutcome::kStored);
}

TEST_F(WriterTest, ManyThreadsWithTheSameResultsStoreEachOnce) {
  constexpr uint32_t kThreads = 32;
  constexpr uint32_t kTasks = 60;
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", kTasks);
  std::latch answered(kThreads * kTasks);
  std::mutex mutex;
  std::map<uint32_t, int> stored;
  std::map<uint32_t, std::set<int64_t>> ids;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kTasks; ++i) {
        uint32_t task = (i + t * 7) % kTasks;
        store->AppendResultAsync(TestResult("run-1", task),
                                 [&, task](absl::StatusOr<AppendResult> outcome) {
                                   std::lock_guard lock(mutex);
                                   EXPECT_TRUE(outcome.ok()) << outcome.status();
                                   if (outcome->outcome == AppendOutcome::kStored) ++stored[task];
                                   ids[task].insert(outcome->result_id);
                                   answered.count_down();
                                 });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  answered.wait();

  for (uint32_t task = 0; task < kTasks; ++task) {
    EXPECT_EQ(stored[task], 1) << task;
    EXPECT_EQ(ids[task].size(), 1u) << task;
  }
  EXPECT_EQ(store->ListResults({})->size(), kTasks);
}

TEST_F(WriterTest, ReadersSeeWholeTransactionsWhileItWrites) {
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 200);
  std::atomic<bool> over = false;
  std::vector<std::thread> readers;
  for (int t = 0; t < 6; ++t) {
    readers.emplace_back([&] {
      while (!over) {
        absl::StatusOr<std::vector<TaskRecord>> tasks = store->ListTasks("run-1");
        ASSERT_TRUE(tasks.ok()) << tasks.status();
        for (const TaskRecord& task : *tasks) {
          EXPECT_EQ(task.state == v1::TASK_STATE_DONE, task.result_id != 0);
        }
        absl::StatusOr<std::vector<v1::StoredResult>> results = store->ListResults({});
        ASSERT_TRUE(results.ok());
        for (const v1::StoredResult& result : *results) EXPECT_EQ(result.metrics_size(), 2);
      }
    });
  }
  for (uint32_t i = 0; i < 200; ++i) EXPECT_TRUE(Append(*store, TestResult("run-1", i)).ok());
  over = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(WriterTest, FullQueueRefusesAtOnceAndBlockingCallsStillGoThrough) {
  options_.queue_requests = 3;
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 5);
  std::latch answered(3);
  absl::Status refused;
  std::thread::id refused_in;
  std::thread blocking;
  {
    Gate gate(*store);
    for (uint32_t i = 0; i < 3; ++i) {
      store->AppendResultAsync(TestResult("run-1", i), [&](absl::StatusOr<AppendResult> outcome) {
        EXPECT_TRUE(outcome.ok()) << outcome.status();
        answered.count_down();
      });
    }
    store->AppendResultAsync(TestResult("run-1", 3), [&](absl::StatusOr<AppendResult> outcome) {
      refused = outcome.status();
      refused_in = std::this_thread::get_id();
    });
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(IdOf(refused), "store.queue_full");
    EXPECT_EQ(refused_in, std::this_thread::get_id());
    blocking = std::thread([&] { EXPECT_TRUE(store->PutDocuments({ServerDocument("x")}).ok()); });
  }
  answered.wait();
  blocking.join();
  EXPECT_EQ(Append(*store, TestResult("run-1", 3))->outcome, AppendOutcome::kStored);
  EXPECT_EQ(store->ListResults({})->size(), 4u);
}

TEST_F(WriterTest, QueueIsBoundedInBytesButTakesOneThatIsLargerAlone) {
  options_.queue_bytes = 10000;
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 3);
  std::latch answered(1);
  absl::Status refused;
  {
    Gate gate(*store);
    store->AppendResultAsync(TestResult("run-1", 0, 50000), [&](absl::StatusOr<AppendResult> r) {
      EXPECT_TRUE(r.ok()) << r.status();
      answered.count_down();
    });
    store->AppendResultAsync(TestResult("run-1", 1, 10),
                             [&](absl::StatusOr<AppendResult> r) { refused = r.status(); });
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  }
  answered.wait();
  // Room is back before the answer.
  EXPECT_TRUE(Append(*store, TestResult("run-1", 1, 50000)).ok());
}

TEST_F(WriterTest, ClosingCommitsAndAnswersWhatIsQueued) {
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 50);
  std::atomic<int> stored = 0;
  for (uint32_t i = 0; i < 50; ++i) {
    store->AppendResultAsync(TestResult("run-1", i),
                             [&](absl::StatusOr<AppendResult> r) { stored += r.ok() ? 1 : 0; });
  }

  store.reset();

  EXPECT_EQ(stored, 50);
  EXPECT_EQ(OpenOrDie(options_)->ListResults({})->size(), 50u);
}

TEST_F(WriterTest, CallbackThatBlocksOnTheStoreIsToldSo) {
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 1);
  std::latch ended(1);
  absl::Status inner;
  store->AppendResultAsync(TestResult("run-1", 0), [&](absl::StatusOr<AppendResult>) {
    inner = store->PutDocuments({});
    ended.count_down();
  });
  ended.wait();

  EXPECT_EQ(inner.code(), absl::StatusCode::kInternal);
}

TEST_F(WriterTest, LogIsCopiedIntoTheDatabaseAndStartsOver) {
  options_.checkpoint_frames = 20;
  std::unique_ptr<Store> store = OpenOrDie(options_);
  InsertTestRun(*store, "run-1", 300);

  for (uint32_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(Append(*store, TestResult("run-1", i, 1000)).ok());
  }

  // 300 commits of several pages each; without checkpoints the log would hold them all.
  EXPECT_LT(ReadFile(options_.path + "-wal").size(), 400000u);
}

}  // namespace
}  // namespace assay::store
