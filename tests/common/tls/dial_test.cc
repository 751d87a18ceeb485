#include "common/tls/dial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "absl/strings/ascii.h"
#include "common/base/message.h"
#include "tests/common/tls/test_peers.h"
#include "tests/common/tls/test_pki.h"

namespace assay::tls {
namespace {

using assay::testing::ConnectProxy;
using assay::testing::Drain;
using assay::testing::Listener;
using assay::testing::Output;
using assay::testing::ScopedProxyVariables;
using assay::testing::SendText;
using assay::testing::ServeTls;
using assay::testing::TestCa;
using assay::testing::TlsServerOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// More than any of these needs; nothing waits for it to end.
constexpr absl::Duration kAmple = absl::Seconds(30);

std::string Id(const absl::Status& status) {
  if (status.ok()) return "ok";
  auto message = MessageOf(status);
  return message.has_value() ? message->id() : std::string(status.message());
}

// Runs `body` in a thread with a network of its own, in which nothing is set up.
void InEmptyNetwork(const std::function<void()>& body) {
  std::thread([&] {
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    body();
  }).join();
}

class DiagnoseTest : public ::testing::Test {
 protected:
  // A TLS server with the given identity.
  std::function<void(int)> Tls(Identity identity, TlsServerOptions options = {}) {
    return [identity = std::move(identity), options](int fd) { ServeTls(fd, identity, options); };
  }

  ScopedProxyVariables no_proxy_;
  TestCa ca_;
  Identity agent_ = ca_.Agent("a-1");
};

// ---- before TLS

TEST_F(DiagnoseTest, ClosedPort) {
  int port = Listener([](int) {}).port();  // free again

  absl::Status status = Diagnose({"127.0.0.1", port}, agent_, kAmple);

  EXPECT_EQ(Id(status), "system.connect_refused");
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("127.0.0.1:", port)));
}

TEST_F(DiagnoseTest, ClosedPortOverIpv6) {
  int port = Listener([](int) {}).port();
  EXPECT_EQ(Id(Diagnose({"::1", port}, agent_, kAmple)), "system.connect_refused");
}

TEST_F(DiagnoseTest, NoRoute) {
  InEmptyNetwork([&] {
    EXPECT_EQ(Id(Diagnose({"192.0.2.1", 7443}, agent_, kAmple)), "system.unreachable");
  });
}

TEST_F(DiagnoseTest, NameThatDoesNotResolve) {
  InEmptyNetwork([&] {
    EXPECT_EQ(Id(Diagnose({"coordinator.invalid", 7443}, agent_, kAmple)), "system.not_resolved");
  });
}

TEST_F(DiagnoseTest, PacketsThatVanish) {
  InEmptyNetwork([&] {
    int failed = 1;
    std::string said = Output(
        "ip link set lo up && nft add table ip hole && "
        "nft add chain ip hole in '{ type filter hook input priority 0; policy drop; }'",
        &failed);
    ASSERT_EQ(failed, 0) << said;

    absl::Status status = Diagnose({"127.0.0.1", 7443}, agent_, absl::Milliseconds(200));

    EXPECT_EQ(Id(status), "system.connect_timed_out");
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  });
}

TEST_F(DiagnoseTest, NoTimeAtAll) {
  Listener silent(Drain);
  EXPECT_EQ(Diagnose(silent.address(), agent_, absl::ZeroDuration()).code(),
            absl::StatusCode::kDeadlineExceeded);
}

// ---- not what is expected behind the port

TEST_F(DiagnoseTest, SshServer) {
  Listener ssh([](int fd) {
    SendText(fd, "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n");
    Drain(fd);
  });
  EXPECT_EQ(Id(Diagnose(ssh.address(), agent_, kAmple)), "identity.not_tls");
}

TEST_F(DiagnoseTest, PlainHttpServer) {
  Listener http([](int fd) {
    SendText(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    Drain(fd);
  });
  EXPECT_EQ(Id(Diagnose(http.address(), agent_, kAmple)), "identity.not_tls");
}

TEST_F(DiagnoseTest, SilentServer) {
  Listener silent(Drain);
  EXPECT_EQ(Id(Diagnose(silent.address(), agent_, absl::Milliseconds(100))),
            "identity.tls_timed_out");
}

TEST_F(DiagnoseTest, ServerThatHangsUp) {
  Listener closing([](int) {});
  EXPECT_EQ(Id(Diagnose(closing.address(), agent_, kAmple)), "identity.tls_closed");
}

TEST_F(DiagnoseTest, TlsWithoutHttp2) {
  Listener web(Tls(ca_.Serving(), {.http2 = false}));
  EXPECT_EQ(Id(Diagnose(web.address(), agent_, kAmple)), "identity.not_grpc");
}

// ---- the coordinator's certificate

TEST_F(DiagnoseTest, GoodCoordinator) {
  Listener coordinator(Tls(ca_.Serving(), {.require_client = true}));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), agent_, kAmple)), "ok");
  EXPECT_EQ(Id(Diagnose(coordinator.address("localhost"), agent_, kAmple)), "ok");
}

TEST_F(DiagnoseTest, WithoutIdentityNothingIsChecked) {
  Listener coordinator(Tls(TestCa("other").Serving()));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), std::nullopt, kAmple)), "ok");
}

TEST_F(DiagnoseTest, AnotherCoordinatorOfTheSameName) {
  TestCa other("lab");
  Listener coordinator(Tls(other.Serving()));

  absl::Status status = Diagnose(coordinator.address(), agent_, kAmple);

  EXPECT_EQ(Id(status), "identity.other_coordinator");
  EXPECT_THAT(std::string(status.message()), HasSubstr(ca_.authority().ca_fingerprint()));
  EXPECT_THAT(std::string(status.message()), HasSubstr(other.authority().ca_fingerprint()));
}

TEST_F(DiagnoseTest, AnotherCoordinatorOfAnotherName) {
  Listener coordinator(Tls(TestCa("other").Serving(), {.require_client = true}));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), agent_, kAmple)), "identity.other_coordinator");
}

TEST_F(DiagnoseTest, AnotherCoordinatorThatRefusesUsFirst) {
  Listener coordinator(
      Tls(TestCa("other").Serving(), {.version = TLS1_2_VERSION, .require_client = true}));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), agent_, kAmple)), "identity.other_coordinator");
}

TEST_F(DiagnoseTest, NameThatTheCertificateLacks) {
  Listener coordinator(Tls(ca_.Serving({"hk.example", "10.1.2.3", "2001:db8::9"})));

  absl::Status status = Diagnose(coordinator.address("localhost"), agent_, kAmple);

  EXPECT_EQ(Id(status), "identity.name_mismatch");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("for hk.example, 10.1.2.3, 2001:db8::9, not for localhost"));
}

TEST_F(DiagnoseTest, AddressThatTheCertificateLacks) {
  Listener coordinator(Tls(ca_.Serving({"localhost"})));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), agent_, kAmple)), "identity.name_mismatch");
}

TEST_F(DiagnoseTest, CoordinatorsCertificateExpired) {
  Listener coordinator(
      Tls(ca_.Serving({"127.0.0.1"}, absl::Now() - absl::Hours(100), absl::Hours(1))));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), agent_, kAmple)), "identity.peer_expired");
}

TEST_F(DiagnoseTest, CoordinatorsCertificateNotYetValidMeansASlowClock) {
  Listener coordinator(Tls(ca_.Serving({"127.0.0.1"}, absl::Now() + absl::Hours(100))));

  absl::Status status = Diagnose(coordinator.address(), agent_, kAmple);

  EXPECT_EQ(Id(status), "identity.peer_not_yet_valid");
  EXPECT_THAT(std::string(status.message()), HasSubstr("slow"));
}

TEST_F(DiagnoseTest, CertificateOfAnAgentIsNoCoordinators) {
  Identity impostor = ca_.Agent("a-2");
  Listener coordinator(Tls(impostor));
  EXPECT_EQ(Diagnose(coordinator.address(), agent_, kAmple).code(),
            absl::StatusCode::kPermissionDenied);
}

// ---- our own certificate

TEST_F(DiagnoseTest, OwnCertificateExpired) {
  Listener coordinator(Tls(ca_.Serving()));
  Identity old = ca_.Agent("a-1", absl::Now() - absl::Hours(100), absl::Hours(1));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), old, kAmple)), "identity.own_expired");
}

TEST_F(DiagnoseTest, OwnCertificateNotYetValidMeansASlowClock) {
  Listener coordinator(Tls(ca_.Serving()));

  absl::Status status =
      Diagnose(coordinator.address(), agent_, kAmple, absl::Now() - absl::Hours(26));

  EXPECT_EQ(Id(status), "identity.own_not_yet_valid");
  EXPECT_THAT(std::string(status.message()), HasSubstr("slow"));
}

TEST_F(DiagnoseTest, AClockADaySlowIsNoHindrance) {
  Listener coordinator(Tls(ca_.Serving()));
  EXPECT_EQ(Id(Diagnose(coordinator.address(), agent_, kAmple, absl::Now() - absl::Hours(24))),
            "ok");
}

// The other side thinks it is before the certificate's time.
TEST_F(DiagnoseTest, OwnCertificateRefusedByTls13) {
  Listener coordinator(Tls(ca_.Serving({"127.0.0.1"}, absl::Now(), absl::Hours(2400)),
                           {.version = TLS1_3_VERSION, .require_client = true}));
  absl::Time later = absl::Now() + absl::Hours(240);
  Identity future = ca_.Agent("a-1", later);

  absl::Status status = Diagnose(coordinator.address(), future, kAmple, later);

  EXPECT_EQ(Id(status), "identity.own_refused");
  EXPECT_THAT(std::string(status.message()), HasSubstr("alert"));
}

TEST_F(DiagnoseTest, OwnCertificateRefusedByTls12) {
  Listener coordinator(Tls(ca_.Serving({"127.0.0.1"}, absl::Now(), absl::Hours(2400)),
                           {.version = TLS1_2_VERSION, .require_client = true}));
  absl::Time later = absl::Now() + absl::Hours(240);
  EXPECT_EQ(Id(Diagnose(coordinator.address(), ca_.Agent("a-1", later), kAmple, later)),
            "identity.own_refused");
}

// ---- through a proxy

TEST_F(DiagnoseTest, ProxyIsUsedAndResolvesTheName) {
  Listener coordinator(Tls(ca_.Serving()));
  ConnectProxy proxy;
  ScopedProxyVariables variables(
      {{"https_proxy", absl::StrCat("http://127.0.0.1:", proxy.port())}});

  EXPECT_EQ(Id(Diagnose(coordinator.address("coordinator.test"), agent_, kAmple)), "ok");

  std::string target = absl::StrCat("coordinator.test:", coordinator.port());
  EXPECT_THAT(
      proxy.requests(),
      ElementsAre(absl::StrCat("CONNECT ", target, " HTTP/1.1\r\nHost: ", target, "\r\n\r\n")));
}

TEST_F(DiagnoseTest, ProxyGetsItsPassword) {
  Listener coordinator(Tls(ca_.Serving()));
  ConnectProxy proxy("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n");  // user:p@ss
  ScopedProxyVariables variables(
      {{"HTTPS_PROXY", absl::StrCat("http://user:p%40ss@127.0.0.1:", proxy.port())}});
  EXPECT_EQ(Id(Diagnose(coordinator.address("coordinator.test"), agent_, kAmple)), "ok");
}

TEST_F(DiagnoseTest, ProxyThatWantsAPassword) {
  ConnectProxy proxy("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n");
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", proxy.port())}});

  absl::Status status = Diagnose({"coordinator.test", 7443}, agent_, kAmple);

  EXPECT_EQ(Id(status), "identity.proxy_wants_password");
  EXPECT_THAT(std::string(status.message()), HasSubstr("$https_proxy"));
}

TEST_F(DiagnoseTest, ProxyThatCannotReachIt) {
  int port = Listener([](int) {}).port();
  ConnectProxy proxy;
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", proxy.port())}});

  absl::Status status = Diagnose({"coordinator.test", port}, agent_, kAmple);

  EXPECT_EQ(Id(status), "identity.proxy_refused");
  EXPECT_THAT(std::string(status.message()), HasSubstr("502 Bad Gateway"));
}

TEST_F(DiagnoseTest, ProxyThatIsNotThere) {
  int port = Listener([](int) {}).port();
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", port)}});

  absl::Status status = Diagnose({"coordinator.test", 7443}, agent_, kAmple);

  EXPECT_EQ(Id(status), "system.connect_refused");
  EXPECT_THAT(std::string(status.message()), HasSubstr("$https_proxy"));
}

TEST_F(DiagnoseTest, ProxyThatIsNone) {
  Listener ssh([](int fd) {
    SendText(fd, "SSH-2.0-OpenSSH\r\n\r\n");
    Drain(fd);
  });
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", ssh.port())}});
  EXPECT_EQ(Id(Diagnose({"coordinator.test", 7443}, agent_, kAmple)), "identity.proxy_not_http");
}

TEST_F(DiagnoseTest, ProxyThatHangsUp) {
  Listener closing([](int) {});
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", closing.port())}});
  EXPECT_EQ(Id(Diagnose({"coordinator.test", 7443}, agent_, kAmple)), "identity.proxy_closed");
}

TEST_F(DiagnoseTest, ProxyThatNeverEndsItsAnswer) {
  Listener endless([](int fd) { SendText(fd, "HTTP/1.1 200 OK\r\n" + std::string(1 << 20, 'x')); });
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", endless.port())}});
  EXPECT_EQ(Id(Diagnose({"coordinator.test", 7443}, agent_, kAmple)), "identity.proxy_not_http");
}

TEST_F(DiagnoseTest, ProxyThatIsSilent) {
  Listener silent(Drain);
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", silent.port())}});
  EXPECT_EQ(Id(Diagnose({"coordinator.test", 7443}, agent_, absl::Milliseconds(100))),
            "system.connect_timed_out");
}

// ---- first contact

class FetchCaTest : public DiagnoseTest {};

TEST_F(FetchCaTest, FindsTheCaByItsFingerprint) {
  Listener coordinator(Tls(ca_.Serving()));
  std::string fingerprint = ca_.authority().ca_fingerprint();

  EXPECT_EQ(*FetchCa(coordinator.address(), fingerprint, kAmple), ca_.authority().ca_pem());
  EXPECT_EQ(*FetchCa(coordinator.address(), absl::AsciiStrToUpper(fingerprint), kAmple),
            ca_.authority().ca_pem());
}

TEST_F(FetchCaTest, FindsItThroughAProxy) {
  Listener coordinator(Tls(ca_.Serving()));
  ConnectProxy proxy;
  ScopedProxyVariables variables({{"https_proxy", absl::StrCat("127.0.0.1:", proxy.port())}});

  EXPECT_EQ(*FetchCa(coordinator.address("any.example"), ca_.authority().ca_fingerprint(), kAmple),
            ca_.authority().ca_pem());
  EXPECT_EQ(proxy.requests().size(), 1u);
}

TEST_F(FetchCaTest, RefusesAnother) {
  TestCa other;
  Listener coordinator(Tls(other.Serving()));

  absl::Status status =
      FetchCa(coordinator.address(), ca_.authority().ca_fingerprint(), kAmple).status();

  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Id(status), "identity.other_fingerprint");
}

// Somebody between who copies the CA's certificate, which is no secret, behind a leaf of their own.
TEST_F(FetchCaTest, RefusesTheRightCaUnderAForeignLeaf) {
  Identity forged = TestCa().Serving();
  forged.chain_pem =
      forged.chain_pem.substr(0, forged.chain_pem.find("-----BEGIN", 1)) + ca_.authority().ca_pem();
  Listener coordinator(Tls(forged));

  EXPECT_EQ(Id(FetchCa(coordinator.address(), ca_.authority().ca_fingerprint(), kAmple).status()),
            "identity.impostor");
}

// The fingerprint of a leaf must not make a CA of it.
TEST_F(FetchCaTest, RefusesALeafAsCa) {
  Identity serving = ca_.Serving();
  Listener coordinator(Tls(serving));
  EXPECT_EQ(FetchCa(coordinator.address(), ReadCertificate(serving.chain_pem)->sha256, kAmple)
                .status()
                .code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(FetchCaTest, RefusesAMalformedFingerprintBeforeDialling) {
  for (std::string text : {"", "sha256:", "sha256:12", "md5:00"}) {
    EXPECT_EQ(Id(FetchCa({"192.0.2.1", 1}, text, kAmple).status()), "identity.bad_fingerprint");
  }
  EXPECT_EQ(Id(FetchCa({"192.0.2.1", 1}, "sha256:" + std::string(64, 'g'), kAmple).status()),
            "identity.bad_fingerprint");
}

TEST_F(FetchCaTest, SaysThatItIsNotTls) {
  Listener http([](int fd) {
    SendText(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    Drain(fd);
  });
  EXPECT_EQ(Id(FetchCa(http.address(), ca_.authority().ca_fingerprint(), kAmple).status()),
            "identity.not_tls");
}

}  // namespace
}  // namespace assay::tls
