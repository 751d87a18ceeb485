#include <atomic>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::HasSubstr;

class IdentitiesTest : public ::testing::Test {
 protected:
  TestDirectory directory_;
  std::unique_ptr<Store> store_ = OpenOrDie(directory_.File("assay.db"));

  void PutToken(const std::string& hash, const Subject& subject) {
    TokenRecord token{hash, subject, TestTime(3600), "admin", TestTime()};
    ASSERT_TRUE(store_->PutToken(token).ok());
  }

  static CertificateRecord Certificate(const std::string& serial, const Subject& subject,
                                       const std::string& agent_id) {
    CertificateRecord certificate;
    certificate.serial = serial;
    certificate.subject = subject;
    certificate.agent_id = agent_id;
    certificate.not_before = TestTime(-90000);
    certificate.not_after = TestTime(86400);
    return certificate;
  }

  absl::Status Redeem(const std::string& hash, const std::string& serial,
                      const std::string& agent_id, absl::Time now = TestTime(10)) {
    return store_->RedeemToken(
        hash, now, [&](const Subject& subject) { return Certificate(serial, subject, agent_id); });
  }

  std::map<std::string, AgentRecord> Agents() {
    std::map<std::string, AgentRecord> agents;
    std::vector<AgentRecord> all = store_->ListAgents().value();
    for (const AgentRecord& agent : all) agents[agent.agent_id] = agent;
    return agents;
  }

  bool Revoked(const std::string& serial) {
    return store_->GetCertificate(serial).value().revoked_at.has_value();
  }

  const Subject vantage_{v1::SUBJECT_KIND_VANTAGE, "sz-office", v1::ROLE_UNSPECIFIED};
  const Subject person_{v1::SUBJECT_KIND_PERSON, "li", v1::ROLE_OPERATOR};
};

TEST_F(IdentitiesTest, RedeemingEnrolsTheAgentOfTheTokensSubject) {
  PutToken("t1", vantage_);

  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());

  CertificateRecord certificate = store_->GetCertificate("01").value();
  EXPECT_EQ(certificate.subject.kind, v1::SUBJECT_KIND_VANTAGE);
  EXPECT_EQ(certificate.subject.name, "sz-office");
  EXPECT_EQ(certificate.agent_id, "a-1");
  EXPECT_EQ(certificate.not_before, TestTime(-90000));
  EXPECT_EQ(certificate.not_after, TestTime(86400));
  EXPECT_FALSE(certificate.revoked_at.has_value());
  AgentRecord agent = Agents().at("a-1");
  EXPECT_EQ(agent.subject.name, "sz-office");
  EXPECT_EQ(agent.enrolled_at, TestTime(10));
  EXPECT_FALSE(agent.last_seen_at.has_value());
  EXPECT_FALSE(agent.superseded);
}

TEST_F(IdentitiesTest, TokenDecidesTheSubjectWhateverTheIssuerSays) {
  PutToken("t1", vantage_);

  ASSERT_TRUE(
      store_
          ->RedeemToken(
              "t1", TestTime(),
              [&](const Subject&) {
                return Certificate("01", {v1::SUBJECT_KIND_PERSON, "root", v1::ROLE_ADMIN}, "a-1");
              })
          .ok());

  EXPECT_EQ(store_->GetCertificate("01")->subject.name, "sz-office");
  EXPECT_EQ(store_->GetCertificate("01")->subject.role, v1::ROLE_UNSPECIFIED);
}

TEST_F(IdentitiesTest, PersonGetsACertificateAndKeepsTheEarlierOne) {
  PutToken("t1", person_);
  PutToken("t2", person_);

  ASSERT_TRUE(Redeem("t1", "01", "").ok());
  ASSERT_TRUE(Redeem("t2", "02", "").ok());

  EXPECT_EQ(store_->GetCertificate("02")->subject.role, v1::ROLE_OPERATOR);
  EXPECT_FALSE(Revoked("01"));
  EXPECT_TRUE(Agents().empty());
}

TEST_F(IdentitiesTest, NewAgentSupersedesTheEarlierOneOfTheSubjectOnly) {
  PutToken("t1", vantage_);
  PutToken("t2", vantage_);
  PutToken("t3", {v1::SUBJECT_KIND_SERVER, "sz-office", v1::ROLE_UNSPECIFIED});
  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());
  ASSERT_TRUE(Redeem("t3", "03", "a-3").ok());

  ASSERT_TRUE(Redeem("t2", "02", "a-2", TestTime(20)).ok());

  EXPECT_TRUE(Agents().at("a-1").superseded);
  EXPECT_FALSE(Agents().at("a-2").superseded);
  EXPECT_FALSE(Agents().at("a-3").superseded);
  EXPECT_EQ(store_->GetCertificate("01")->revoked_at, TestTime(20));
  EXPECT_FALSE(Revoked("02"));
  EXPECT_FALSE(Revoked("03"));
}

TEST_F(IdentitiesTest, TokenThatIsNoGoodSaysWhy) {
  PutToken("used", vantage_);
  PutToken("late", vantage_);
  ASSERT_TRUE(Redeem("used", "01", "a-1").ok());
  struct {
    const char* token;
    absl::Time now;
    absl::StatusCode code;
    const char* id;
  } cases[] = {
      {"never", TestTime(), absl::StatusCode::kNotFound, "identity.token_unknown"},
      {"used", TestTime(), absl::StatusCode::kFailedPrecondition, "identity.token_used"},
      {"late", TestTime(3600), absl::StatusCode::kFailedPrecondition, "identity.token_expired"},
  };

  for (const auto& c : cases) {
    absl::Status status = Redeem(c.token, "09", "a-9", c.now);
    EXPECT_EQ(status.code(), c.code) << c.token;
    EXPECT_EQ(IdOf(status), c.id);
    EXPECT_EQ(Agents().count("a-9"), 0u);
    EXPECT_EQ(store_->GetCertificate("09").status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_TRUE(Redeem("late", "02", "a-2", TestTime(3599)).ok());
  EXPECT_THAT(Redeem("used", "09", "a-9").ToString(), HasSubstr("sz-office"));
}

TEST_F(IdentitiesTest, FailedIssueLeavesTokenAndEarlierAgentAsTheyWere) {
  PutToken("t1", vantage_);
  PutToken("t2", vantage_);
  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());

  absl::Status failed = store_->RedeemToken("t2", TestTime(20), [](const Subject&) {
    return absl::StatusOr<CertificateRecord>(absl::InvalidArgumentError("bad request"));
  });
  // A serial that exists fails after the earlier agent was superseded.
  absl::Status collided = Redeem("t2", "01", "a-2");

  EXPECT_EQ(failed, absl::InvalidArgumentError("bad request"));
  EXPECT_EQ(collided.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(IdOf(collided), "store.certificate_exists");
  EXPECT_FALSE(Agents().at("a-1").superseded);
  EXPECT_FALSE(Revoked("01"));
  EXPECT_EQ(Agents().size(), 1u);
  EXPECT_TRUE(Redeem("t2", "02", "a-2").ok());
}

TEST_F(IdentitiesTest, OneTokenRedeemedByManyThreadsAtOnceHasOneWinner) {
  for (int round = 0; round < 20; ++round) {
    std::string token = absl::StrCat("t", round);
    PutToken(token, vantage_);
    std::atomic<int> wins = 0;
    std::atomic<int> used = 0;
    std::atomic<int> issued = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        std::string name = absl::StrCat(round, "-", i);
        absl::Status status = store_->RedeemToken(token, TestTime(), [&](const Subject& subject) {
          ++issued;
          return Certificate(name, subject, name);
        });
        if (status.ok()) ++wins;
        if (IdOf(status) == "identity.token_used") ++used;
      });
    }
    for (std::thread& thread : threads) thread.join();

    EXPECT_EQ(wins, 1);
    EXPECT_EQ(used, 7);
    EXPECT_EQ(issued, 1);
  }
  EXPECT_EQ(Agents().size(), 20u);
}

TEST_F(IdentitiesTest, TokenHashIsThereOnce) {
  PutToken("t1", vantage_);

  absl::Status again = store_->PutToken({"t1", person_, TestTime(9), "x", TestTime()});

  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(IdOf(again), "store.token_exists");
  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());
  EXPECT_EQ(store_->GetCertificate("01")->subject.name, "sz-office");
}

TEST_F(IdentitiesTest, RevokeEndsCertificatesAndAgentsAndCountsTheValidOnes) {
  PutToken("t1", vantage_);
  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());
  CertificateRecord renewed = Certificate("02", vantage_, "a-1");
  ASSERT_TRUE(store_->PutCertificate(renewed).ok());
  CertificateRecord expired = Certificate("03", vantage_, "a-1");
  expired.not_after = TestTime(-5);
  ASSERT_TRUE(store_->PutCertificate(expired).ok());
  CertificateRecord other =
      Certificate("04", {v1::SUBJECT_KIND_PERSON, "sz-office", v1::ROLE_VIEWER}, "");
  ASSERT_TRUE(store_->PutCertificate(other).ok());

  absl::StatusOr<uint32_t> revoked =
      store_->Revoke(v1::SUBJECT_KIND_VANTAGE, "sz-office", "stolen", TestTime(30));

  EXPECT_EQ(revoked.value(), 2u);
  EXPECT_EQ(store_->GetCertificate("01")->revoked_at, TestTime(30));
  EXPECT_EQ(store_->GetCertificate("01")->revoked_reason, "stolen");
  EXPECT_TRUE(Revoked("02"));
  EXPECT_TRUE(Revoked("03"));
  EXPECT_FALSE(Revoked("04"));
  EXPECT_TRUE(Agents().at("a-1").superseded);
  // The time and reason of a revocation never change.
  EXPECT_EQ(store_->Revoke(v1::SUBJECT_KIND_VANTAGE, "sz-office", "x", TestTime(40)).value(), 0u);
  EXPECT_EQ(store_->GetCertificate("01")->revoked_at, TestTime(30));
  EXPECT_EQ(store_->GetCertificate("01")->revoked_reason, "stolen");
}

TEST_F(IdentitiesTest, RenewalCannotBringARevokedAgentBack) {
  PutToken("t1", vantage_);
  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());
  ASSERT_TRUE(store_->Revoke(v1::SUBJECT_KIND_VANTAGE, "sz-office", "", TestTime()).ok());

  absl::Status late = store_->PutCertificate(Certificate("02", vantage_, "a-1"));
  absl::Status unknown = store_->PutCertificate(Certificate("02", vantage_, "a-7"));

  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(IdOf(late), "store.agent_superseded");
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(IdOf(unknown), "store.unknown_agent");
}

TEST_F(IdentitiesTest, CertificatesAreListedAndSerialsAreUnique) {
  ASSERT_TRUE(store_->PutCertificate(Certificate("02", person_, "")).ok());
  ASSERT_TRUE(store_->PutCertificate(Certificate("01", person_, "")).ok());

  absl::Status again = store_->PutCertificate(Certificate("01", person_, ""));

  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  std::vector<CertificateRecord> all = store_->ListCertificates().value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].serial, "01");
  EXPECT_EQ(all[1].serial, "02");
  EXPECT_EQ(all[0].subject.name, "li");
  EXPECT_EQ(all[0].agent_id, "");
}

TEST_F(IdentitiesTest, AgentIsUpdatedWithAndWithoutHello) {
  PutToken("t1", vantage_);
  ASSERT_TRUE(Redeem("t1", "01", "a-1").ok());
  v1::Hello hello;
  hello.set_hostname("sz-office-3");
  ASSERT_TRUE(store_->UpdateAgent("a-1", TestTime(50), "192.0.2.9:1", hello).ok());
  ASSERT_TRUE(store_->UpdateAgent("a-1", TestTime(60), "192.0.2.9:2", std::nullopt).ok());

  AgentRecord agent = Agents().at("a-1");
  EXPECT_EQ(agent.last_seen_at, TestTime(60));
  EXPECT_EQ(agent.peer, "192.0.2.9:2");
  EXPECT_EQ(agent.hello.hostname(), "sz-office-3");
  absl::Status unknown = store_->UpdateAgent("a-2", TestTime(), "", std::nullopt);
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(IdOf(unknown), "store.unknown_agent");
}

}  // namespace
}  // namespace assay::store
