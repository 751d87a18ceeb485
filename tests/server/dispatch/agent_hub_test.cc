#include "server/dispatch/agent_hub.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::dispatch {
namespace {

struct FakeOutlet : AgentOutlet {
  void Send(const v1::CoordinatorMessage& message) override { sent.push_back(message); }
  void Close(const absl::Status& status) override { closed.push_back(status); }
  std::vector<v1::CoordinatorMessage> sent;
  std::vector<absl::Status> closed;
};

Presence Of(const std::string& agent_id, const std::string& vantage) {
  Presence presence;
  presence.agent_id = agent_id;
  presence.subject = {v1::SUBJECT_KIND_VANTAGE, vantage, v1::ROLE_UNSPECIFIED};
  presence.certificate_expires_at = absl::InfiniteFuture();
  return presence;
}

TEST(AgentHubTest, AnAgentThatConnectsWhileTheCoordinatorDrainsIsToldToo) {
  AgentHub hub;
  auto before = std::make_shared<FakeOutlet>();
  auto after = std::make_shared<FakeOutlet>();
  hub.Connect(Of("a", "sz"), before);

  hub.Drain(absl::Seconds(2));
  hub.Connect(Of("b", "gz"), after);

  for (const auto& outlet : {before, after}) {
    ASSERT_EQ(outlet->sent.size(), 1u);
    EXPECT_EQ(outlet->sent[0].drain().reconnect_after().seconds(), 2);
  }
}

TEST(AgentHubTest, AnAgentThatConnectsAfterAllWereClosedIsClosed) {
  AgentHub hub;
  hub.CloseAll(absl::UnavailableError("stopping"));
  auto late = std::make_shared<FakeOutlet>();

  hub.Connect(Of("a", "sz"), late);

  ASSERT_EQ(late->closed.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(late->closed[0]));
}

TEST(AgentHubTest, ASecondSessionOfAnAgentEndsTheFirstAndOnlyItsOwnEndCounts) {
  AgentHub hub;
  auto first = std::make_shared<FakeOutlet>();
  auto second = std::make_shared<FakeOutlet>();
  hub.Connect(Of("a", "sz"), first);
  hub.Connect(Of("a", "sz"), second);

  EXPECT_EQ(first->closed.size(), 1u);
  EXPECT_FALSE(hub.Disconnect("a", first.get()));
  EXPECT_TRUE(hub.Find("a").has_value());
  EXPECT_TRUE(hub.Disconnect("a", second.get()));
  EXPECT_FALSE(hub.Find("a").has_value());
}

TEST(AgentHubTest, OnlyTheSubjectsOwnSessionsAreClosed) {
  AgentHub hub;
  auto sz = std::make_shared<FakeOutlet>();
  auto gz = std::make_shared<FakeOutlet>();
  hub.Connect(Of("a", "sz"), sz);
  hub.Connect(Of("b", "gz"), gz);

  hub.CloseSubject({v1::SUBJECT_KIND_VANTAGE, "sz", v1::ROLE_UNSPECIFIED},
                   absl::UnauthenticatedError("revoked"));

  EXPECT_EQ(sz->closed.size(), 1u);
  EXPECT_TRUE(gz->closed.empty());
}

TEST(AgentHubTest, ASessionEndsWithItsCertificate) {
  AgentHub hub;
  auto outlet = std::make_shared<FakeOutlet>();
  Presence presence = Of("a", "sz");
  presence.certificate_expires_at = absl::FromUnixSeconds(1000);
  hub.Connect(presence, outlet);

  hub.CloseExpired(absl::FromUnixSeconds(999));
  EXPECT_TRUE(outlet->closed.empty());
  hub.CloseExpired(absl::FromUnixSeconds(1000));

  EXPECT_EQ(outlet->closed.size(), 1u);
}

}  // namespace
}  // namespace assay::dispatch
