#include "agent/spool/file_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hash/sha256.h"
#include "tests/agent/spool/results.h"

namespace assay::spool {
namespace {

using ::assay::testing::MakeResult;
using ::testing::HasSubstr;

const TaskKey kKey{"run-1", 12, 3};

TEST(SpoolFileName, NamesTheAttempt) { EXPECT_EQ(FileName(kKey), "run-1@12@3.result"); }

TEST(SpoolFileName, StaysWithinTheDirectoryWhateverTheRunIsCalled) {
  struct Case {
    std::string run, name;
  };
  const Case cases[] = {
      {"../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd@0@0.result"},
      {"a b", "a%20b@0@0.result"},
      {"a@1", "a%401@0@0.result"},
      {".", "%2E@0@0.result"},
      {std::string("\0", 1), "%00@0@0.result"},
      {"v1.2", "v1.2@0@0.result"},
      {"运", "%E8%BF%90@0@0.result"},
  };
  for (const Case& c : cases) EXPECT_EQ(FileName({c.run, 0, 0}), c.name);
  EXPECT_LT(FileName({std::string(5000, 'x'), 4000000000u, 4000000000u}).size(), 200u);
  EXPECT_NE(FileName({std::string(5000, 'x'), 0, 0}), FileName({std::string(5001, 'x'), 0, 0}));
}

TEST(SpoolFileName, KnowsTemporariesOfItsFiles) {
  EXPECT_EQ(FinalNameOf("run-1@12@3.result.a1b2c3"), "run-1@12@3.result");
  EXPECT_EQ(FinalNameOf("lock"), "");
  EXPECT_TRUE(IsResultFile("run-1@12@3.result"));
  EXPECT_FALSE(IsResultFile("run-1@12@3.result.a1b2c3"));
}

TEST(SpoolFile, GivesBackWhatWasWritten) {
  v1::TaskResult result = MakeResult(kKey, std::string("\0\n\xff", 3));
  auto decoded = DecodeFile(EncodeFile(result), FileName(kKey));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->SerializeAsString(), result.SerializeAsString());
}

TEST(SpoolFile, NoticesEveryCut) {
  std::string file = EncodeFile(MakeResult(kKey, "evidence"));
  for (size_t length = 0; length < file.size(); ++length) {
    absl::Status status = DecodeFile(file.substr(0, length), FileName(kKey)).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << length;
  }
  EXPECT_TRUE(absl::IsDataLoss(DecodeFile(file + "x", FileName(kKey)).status()));
}

TEST(SpoolFile, NoticesEveryFlippedBit) {
  const std::string file = EncodeFile(MakeResult(kKey, "evidence"));
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string flipped = file;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_TRUE(absl::IsDataLoss(DecodeFile(flipped, FileName(kKey)).status())) << bit;
  }
}

TEST(SpoolFile, SaysWhatIsWrong) {
  struct Case {
    std::string file, says;
  };
  const Case cases[] = {
      {"", "no header"},
      {std::string(1000, 'x'), "no header"},
      {"assay-spool 2 0 x\n", "format 2"},
      {"assay-spool 1 5 x\nabc", "3 of 5 bytes"},
      {"assay-spool 1 3 x\nabc", "checksum"},
      {"assay-spool 1 1 " + Sha256Hex("\xff") + "\n\xff", "not a result"},
      {EncodeFile(MakeResult({"run-1", 12, 4})), "another task"},
  };
  for (const Case& c : cases) {
    absl::Status status = DecodeFile(c.file, FileName(kKey)).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says));
    EXPECT_THAT(std::string(status.message()), HasSubstr("run-1@12@3"));
  }
}

}  // namespace
}  // namespace assay::spool
