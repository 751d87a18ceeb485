#include "common/base/proto_time.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;

class VerdictsTest : public ::testing::Test {
 protected:
  TestDirectory directory_;
  std::unique_ptr<Store> store_ = OpenOrDie(directory_.File("assay.db"));

  void Put(const std::string& server, const std::string& run, const std::string& digest,
           int at = 0) {
    v1::Verdict verdict;
    verdict.set_server(server);
    verdict.set_run(run);
    verdict.set_digest(digest);
    verdict.set_decision(v1::SERVER_DECISION_ACCEPTED);
    *verdict.mutable_evaluated_at() = ToProto(TestTime(at));
    ASSERT_TRUE(store_->PutVerdict(verdict).ok());
  }

  std::vector<std::string> Digests(const std::string& server, uint32_t limit = 100) {
    std::vector<std::string> digests;
    auto all = store_->ListVerdicts(server, limit).value();
    for (const v1::Verdict& verdict : all) {
      digests.push_back(verdict.digest());
    }
    return digests;
  }
};

TEST_F(VerdictsTest, AreListedByServerNewestFirst) {
  Put("hk-1", "run-1", "d1");
  Put("gy-1", "run-1", "d2");
  Put("hk-1", "run-1", "d3");

  EXPECT_THAT(Digests("hk-1"), ElementsAre("d3", "d1"));
  EXPECT_THAT(Digests("hk-1", 1), ElementsAre("d3"));
  EXPECT_THAT(Digests("gy-1"), ElementsAre("d2"));
  EXPECT_THAT(Digests("sh-1"), ElementsAre());
  EXPECT_EQ(store_->ListVerdicts("gy-1", 1)->at(0).decision(), v1::SERVER_DECISION_ACCEPTED);
}

TEST_F(VerdictsTest, SameVerdictAgainTakesThePlaceOfTheEarlierOne) {
  Put("hk-1", "run-1", "d1", 1);
  Put("hk-1", "run-2", "d2", 2);

  Put("hk-1", "run-1", "d1", 3);

  EXPECT_THAT(Digests("hk-1"), ElementsAre("d1", "d2"));
  EXPECT_EQ(FromProto(store_->ListVerdicts("hk-1", 1)->at(0).evaluated_at()), TestTime(3));
}

TEST_F(VerdictsTest, ADecisionThatComesBackIsANewOne) {
  Put("hk-1", "run-1", "d1");
  Put("hk-1", "run-1", "d2");
  Put("hk-1", "run-1", "d1");

  EXPECT_THAT(Digests("hk-1"), ElementsAre("d1", "d2", "d1"));
}

}  // namespace
}  // namespace assay::store
