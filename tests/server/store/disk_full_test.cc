// A real disk that is full: a small tmpfs.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DiskFullTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EnterOwnMounts() || mount("none", directory_.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
      GTEST_SKIP() << "mounting is not allowed here";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }

  // Takes all of the disk but `leave` bytes.
  void Fill(size_t leave) {
    int fd = open(directory_.File("filler").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_GE(fd, 0);
    std::string block(4096, 'f');
    while (write(fd, block.data(), block.size()) > 0) {
    }
    struct stat info;
    ASSERT_EQ(fstat(fd, &info), 0);
    ASSERT_EQ(ftruncate(fd, std::max<off_t>(0, info.st_size - static_cast<off_t>(leave))), 0);
    close(fd);
  }
  void Free() { std::filesystem::remove(directory_.File("filler")); }

  TestDirectory directory_;
  bool mounted_ = false;
  const std::string path_ = directory_.File("assay.db");
};

TEST_F(DiskFullTest, ResultsAreRefusedUntilSpaceIsFreeAndNothingAcknowledgedIsLost) {
  std::unique_ptr<Store> store = OpenOrDie(path_);
  InsertTestRun(*store, "run-1", 200);
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(Append(*store, TestResult("run-1", i, 900)).ok());
  Fill(100000);

  uint32_t next = 10;
  absl::Status full;
  while (full.ok() && next < 200) {
    full = Append(*store, TestResult("run-1", next, 4000)).status();
    if (full.ok()) ++next;
  }

  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_EQ(IdOf(full), "store.full");
  EXPECT_GT(next, 10u);
  // It stays readable and says the same again.
  EXPECT_EQ(store->ListResults({.limit = 1000})->size(), next);
  EXPECT_EQ(store->ListTasks("run-1")->at(next).state, v1::TASK_STATE_PENDING);
  EXPECT_EQ(Append(*store, TestResult("run-1", next, 4000)).status().code(),
            absl::StatusCode::kResourceExhausted);
  Free();
  for (uint32_t i = 0; i < next + 20; ++i) {
    absl::StatusOr<AppendResult> again = Append(*store, TestResult("run-1", i, 900));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->outcome, i < next ? AppendOutcome::kDuplicate : AppendOutcome::kStored) << i;
  }
  store.reset();
  EXPECT_THAT(IntegrityOf(path_), ElementsAre("ok"));
  EXPECT_THAT(RawQuery(path_, "SELECT count(*) FROM results"),
              ElementsAre(absl::StrCat(next + 20)));
}

TEST_F(DiskFullTest, RequestThatIsLargerThanTheDiskIsRefusedAndSmallOnesGoOn) {
  std::unique_ptr<Store> store = OpenOrDie(path_);
  InsertTestRun(*store, "run-1", 3);

  absl::Status huge = Append(*store, TestResult("run-1", 0, 8 << 20)).status();

  EXPECT_EQ(huge.code(), absl::StatusCode::kResourceExhausted) << huge;
  EXPECT_EQ(Append(*store, TestResult("run-1", 0))->outcome, AppendOutcome::kStored);
  EXPECT_EQ(Append(*store, TestResult("run-1", 1))->outcome, AppendOutcome::kStored);
}

TEST_F(DiskFullTest, DatabaseThatDoesNotFitIsNotHalfMade) {
  for (size_t leave : {0, 4096, 20000, 60000}) {
    SCOPED_TRACE(leave);
    Fill(leave);
    SqliteOptions options;
    options.path = path_;
    options.create = true;

    absl::Status created = OpenSqliteStore(options).status();

    EXPECT_EQ(created.code(), absl::StatusCode::kResourceExhausted) << created;
    EXPECT_THAT(std::string(created.message()), HasSubstr(path_));
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
    Free();
    EXPECT_TRUE(OpenSqliteStore(options).ok());
    std::filesystem::remove(path_);
  }
}

}  // namespace
}  // namespace assay::store
