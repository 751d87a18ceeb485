#include "agent/spool/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "agent/spool/file_format.h"
#include "spdlog/spdlog.h"
#include "tests/agent/spool/results.h"

namespace assay::spool {
namespace {

using ::assay::testing::MakeResult;
using ::assay::testing::ReadFile;
using ::assay::testing::WriteFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TaskKey kA{"run", 1, 1};
const TaskKey kB{"run", 2, 1};

class SpoolTest : public ::testing::Test {
 protected:
  SpoolTest() { spdlog::set_level(spdlog::level::off); }

  std::unique_ptr<Spool> Open(const SpoolOptions& options = {}) {
    auto spool = OpenSpool(spool_dir_, corrupt_dir_, options);
    EXPECT_TRUE(spool.ok()) << spool.status();
    return *std::move(spool);
  }
  std::string PathOf(const TaskKey& key) const { return spool_dir_ + "/" + FileName(key); }
  std::vector<std::string> Corrupt() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(corrupt_dir_)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(corrupt_dir_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  testing::TemporaryDirectory state_;
  const std::string spool_dir_ = state_.File("spool");
  const std::string corrupt_dir_ = state_.File("corrupt");
};

TEST_F(SpoolTest, KeepsResultsOverARestart) {
  ASSERT_TRUE(Open()->Put(MakeResult(kB, "bee")).ok());
  ASSERT_TRUE(Open()->Put(MakeResult(kA, "ay")).ok());

  auto spool = Open();

  EXPECT_THAT(spool->List(), ElementsAre(kA, kB));
  EXPECT_EQ(spool->Get(kB)->result().evidence_zstd(), "bee");
}

TEST_F(SpoolTest, ForgetsOnlyWhatIsRemoved) {
  auto spool = Open();
  ASSERT_TRUE(spool->Put(MakeResult(kA)).ok());
  ASSERT_TRUE(spool->Put(MakeResult(kB)).ok());

  ASSERT_TRUE(spool->Remove(kA).ok());
  ASSERT_TRUE(spool->Remove(kA).ok());

  EXPECT_TRUE(absl::IsNotFound(spool->Get(kA).status()));
  EXPECT_THAT(spool->List(), ElementsAre(kB));
  EXPECT_THAT(Open()->List(), ElementsAre(kB));
}

TEST_F(SpoolTest, OneAttemptHasOneResult) {
  auto spool = Open();
  ASSERT_TRUE(spool->Put(MakeResult(kA, "first")).ok());
  ASSERT_TRUE(spool->Put(MakeResult(kA, "second")).ok());
  EXPECT_EQ(spool->Get(kA)->result().evidence_zstd(), "second");
  EXPECT_THAT(spool->List(), ElementsAre(kA));
}

TEST_F(SpoolTest, FilesAreForTheirOwnerOnly) {
  ASSERT_TRUE(Open()->Put(MakeResult(kA)).ok());
  auto bits = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
  EXPECT_EQ(std::filesystem::status(PathOf(kA)).permissions() & bits, std::filesystem::perms::none);
  EXPECT_EQ(std::filesystem::status(spool_dir_).permissions() & bits, std::filesystem::perms::none);
}

TEST_F(SpoolTest, ADamagedFileIsSetAsideWithItsContent) {
  ASSERT_TRUE(Open()->Put(MakeResult(kA, "evidence")).ok());
  ASSERT_TRUE(Open()->Put(MakeResult(kB)).ok());
  std::string cut = ReadFile(PathOf(kA)).substr(0, 40);
  WriteFile(PathOf(kA), cut);

  auto spool = Open();

  EXPECT_THAT(spool->List(), ElementsAre(kB));
  EXPECT_THAT(Corrupt(), ElementsAre("run@1@1.result.corrupt"));
  EXPECT_EQ(ReadFile(corrupt_dir_ + "/run@1@1.result.corrupt"), cut);
  EXPECT_FALSE(std::filesystem::exists(PathOf(kA)));
}

TEST_F(SpoolTest, NothingSetAsideIsOverwritten) {
  for (const char* content : {"one", "two", "three"}) {
    Open();
    WriteFile(PathOf(kA), content);
    Open();
  }
  EXPECT_EQ(Corrupt().size(), 3u);
}

TEST_F(SpoolTest, AFileThatIsDamagedLaterIsSetAsideWhenItIsRead) {
  auto spool = Open();
  ASSERT_TRUE(spool->Put(MakeResult(kA)).ok());
  WriteFile(PathOf(kA), "rubbish");

  EXPECT_TRUE(absl::IsDataLoss(spool->Get(kA).status()));

  EXPECT_FALSE(spool->Has(kA));
  EXPECT_EQ(Corrupt().size(), 1u);
}

TEST_F(SpoolTest, AFileThatSomebodyRemovedIsForgotten) {
  auto spool = Open();
  ASSERT_TRUE(spool->Put(MakeResult(kA)).ok());
  std::filesystem::remove(PathOf(kA));
  EXPECT_TRUE(absl::IsDataLoss(spool->Get(kA).status()));
  EXPECT_FALSE(spool->Has(kA));
}

TEST_F(SpoolTest, AWholeTemporaryFileGetsItsName) {
  Open();
  WriteFile(PathOf(kA) + ".a1b2c3", EncodeFile(MakeResult(kA, "rescued")));

  auto spool = Open();

  EXPECT_EQ(spool->Get(kA)->result().evidence_zstd(), "rescued");
  EXPECT_FALSE(std::filesystem::exists(PathOf(kA) + ".a1b2c3"));
  EXPECT_THAT(Open()->List(), ElementsAre(kA));
}

TEST_F(SpoolTest, ATornTemporaryFileIsSetAside) {
  Open();
  WriteFile(PathOf(kA) + ".a1b2c3",
            EncodeFile(MakeResult(kA, std::string(1000, 'x'))).substr(0, 500));
  WriteFile(PathOf(kB) + ".a1b2c3", "");

  auto spool = Open();

  EXPECT_THAT(spool->List(), IsEmpty());
  EXPECT_THAT(Corrupt(), ElementsAre("run@1@1.result.a1b2c3.corrupt"));
  EXPECT_TRUE(std::filesystem::is_empty(spool_dir_));
}

TEST_F(SpoolTest, TheLimitEndsTakingTasksButKeepsMeasurements) {
  auto spool = Open({.max_bytes = 5000, .reserve_bytes = 1000});
  EXPECT_TRUE(spool->HasRoom());
  ASSERT_TRUE(spool->Put(MakeResult(kA, std::string(6000, 'x'))).ok());

  EXPECT_FALSE(spool->HasRoom());
  EXPECT_TRUE(absl::IsResourceExhausted(spool->PutIfRoom(MakeResult(kB))));
  EXPECT_FALSE(spool->Has(kB));
  EXPECT_TRUE(spool->Put(MakeResult(kB)).ok());

  ASSERT_TRUE(spool->Remove(kA).ok());
  EXPECT_TRUE(spool->HasRoom());
}

TEST_F(SpoolTest, ASmallAnswerFitsIntoTheReserve) {
  auto spool = Open({.max_bytes = 5000, .reserve_bytes = 1000});
  ASSERT_TRUE(spool->Put(MakeResult(kA, std::string(5000, 'x'))).ok());
  EXPECT_TRUE(spool->PutIfRoom(MakeResult(kB)).ok());
  EXPECT_THAT(Open()->List(), ElementsAre(kA, kB));
}

// On a file system of its own that is really full.
TEST_F(SpoolTest, AFullDiskKeepsResultsInMemoryUntilThereIsRoom) {
  std::filesystem::create_directory(spool_dir_);
  if (mount("tmpfs", spool_dir_.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  {
    auto spool = Open();
    std::string filler = spool_dir_ + "/filler";
    WriteFile(filler, std::string(64 << 10, 'x'));

    absl::Status put = spool->Put(MakeResult(kA, std::string(10000, 'a')));

    EXPECT_TRUE(absl::IsResourceExhausted(put)) << put;
    EXPECT_FALSE(spool->HasRoom());
    EXPECT_EQ(spool->Get(kA)->result().evidence_zstd(), std::string(10000, 'a'));
    EXPECT_FALSE(spool->PutIfRoom(MakeResult(kB)).ok());
    EXPECT_FALSE(spool->RetryUnwritten().ok());
    EXPECT_THAT(spool->List(), ElementsAre(kA));

    std::filesystem::remove(filler);
    EXPECT_TRUE(spool->RetryUnwritten().ok());
    EXPECT_TRUE(spool->HasRoom());
    EXPECT_EQ(Open()->Get(kA)->result().evidence_zstd(), std::string(10000, 'a'));
  }
  EXPECT_EQ(umount(spool_dir_.c_str()), 0);
}

}  // namespace
}  // namespace assay::spool
