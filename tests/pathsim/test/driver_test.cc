// The path in real time: real kernels at both ends, packets of our own and of ping.
//
// How long things take is never asserted, for a test machine may stall; what the record says of
// each packet is compared with what the hosts saw.
#include "tests/pathsim/driver/driver.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/subprocess/process.h"
#include "tests/pathsim/scenario/reader.h"
#include "tests/pathsim/test/lab.h"

namespace assay::pathsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The number behind "key": in a line of the record.
std::optional<int64_t> NumberIn(const std::string& line, const std::string& key) {
  size_t at = line.find(absl::StrCat("\"", key, "\":"));
  if (at == std::string::npos) return std::nullopt;
  return std::strtoll(line.c_str() + at + key.size() + 3, nullptr, 10);
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A raw ICMP socket in a namespace, made and used from any thread.
class Pinger {
 public:
  Pinger(const std::string& name_space, int version) : version_(version) {
    absl::Status status = RunInNameSpace(name_space, [&] {
      socket_ =
          Descriptor(::socket(version == 4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC,
                              version == 4 ? IPPROTO_ICMP : static_cast<int>(IPPROTO_ICMPV6)));
      return socket_.ok() ? absl::OkStatus() : absl::ErrnoToStatus(errno, "socket");
    });
    EXPECT_TRUE(status.ok()) << status;
    int buffer = 8 << 20;  // room for all replies to a burst
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer));
  }

  void Send(const std::string& to, uint16_t sequence, int ttl) {
    setsockopt(socket_.get(),
               version_ == 4 ? static_cast<int>(IPPROTO_IP) : static_cast<int>(IPPROTO_IPV6),
               version_ == 4 ? static_cast<int>(IP_TTL) : static_cast<int>(IPV6_UNICAST_HOPS), &ttl,
               sizeof(ttl));
    // The kernel writes the IP header, and ICMPv6's checksum.
    Bytes whole = BuildEchoRequest(Lab::Ip(version_), 77, sequence, Bytes(24, 'd'));
    ByteView icmp = ByteView(whole).subspan(version_ == 4 ? 20 : 40);
    sockaddr_storage address = {};
    socklen_t bytes = sizeof(sockaddr_in);
    if (version_ == 4) {
      auto* in = reinterpret_cast<sockaddr_in*>(&address);
      in->sin_family = AF_INET;
      inet_pton(AF_INET, to.c_str(), &in->sin_addr);
    } else {
      auto* in = reinterpret_cast<sockaddr_in6*>(&address);
      in->sin6_family = AF_INET6;
      inet_pton(AF_INET6, to.c_str(), &in->sin6_addr);
      bytes = sizeof(sockaddr_in6);
    }
    ASSERT_EQ(sendto(socket_.get(), icmp.data(), icmp.size(), 0,
                     reinterpret_cast<sockaddr*>(&address), bytes),
              static_cast<ssize_t>(icmp.size()))
        << strerror(errno);
  }

  struct Reply {
    std::string from;
    int type = -1;
    int sequence = -1;  // of an echo reply
  };
  // The next ICMP packet; type -1 where none comes for ten seconds.
  Reply Receive() {
    pollfd readable = {socket_.get(), POLLIN, 0};
    if (poll(&readable, 1, 10'000) != 1) return {};
    std::array<uint8_t, 2048> bytes;
    sockaddr_storage address = {};
    socklen_t length = sizeof(address);
    ssize_t got = recvfrom(socket_.get(), bytes.data(), bytes.size(), 0,
                           reinterpret_cast<sockaddr*>(&address), &length);
    size_t at = version_ == 4 ? 20 : 0;
    if (got < static_cast<ssize_t>(at + 8)) return {};
    Reply reply;
    char text[INET6_ADDRSTRLEN];
    if (version_ == 4) {
      inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&address)->sin_addr, text, sizeof(text));
    } else {
      inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr, text,
                sizeof(text));
    }
    reply.from = text;
    reply.type = bytes[at];
    reply.sequence = Get16(bytes, at + 6);
    return reply;
  }

 private:
  int version_;
  Descriptor socket_;
};

class DriverTest : public ::testing::Test {
 protected:
  void Start(const std::string& rest) {
    std::string yaml = absl::StrCat(
        "near: {addresses: [192.0.2.1, '2001:db8::1']}\n"
        "far:\n  addresses: [198.51.100.1/24, '2001:db8:f::1']\n"
        "  forward: {delay: 2ms}\n  reverse: {delay: 3ms}\n",
        rest);
    absl::StatusOr<Scenario> scenario = ReadScenario(yaml, "test");
    ASSERT_TRUE(scenario.ok()) << scenario.status();
    auto driver = Driver::Create(*scenario, {near_, far_, record_});
    ASSERT_TRUE(driver.ok()) << driver.status();
    driver_ = *std::move(driver);
    thread_ = std::thread([this] {
      absl::StatusOr<int> stop = driver_->Run({stop_.get()});
      EXPECT_TRUE(stop.ok()) << stop.status();
    });
  }
  void Stop() {
    if (!thread_.joinable()) return;
    uint64_t one = 1;
    EXPECT_EQ(write(stop_.get(), &one, sizeof(one)), 8);
    thread_.join();
    lines_ = absl::StrSplit(FileText(record_), '\n', absl::SkipEmpty());
  }
  void TearDown() override {
    Stop();
    driver_.reset();
    std::filesystem::remove(record_);
    EXPECT_FALSE(std::filesystem::exists("/run/netns/" + near_));
    EXPECT_FALSE(std::filesystem::exists("/run/netns/" + far_));
  }

  const std::string near_ = absl::StrCat("pathsim-near-", getpid());
  const std::string far_ = absl::StrCat("pathsim-far-", getpid());
  const std::string record_ = absl::StrCat(::testing::TempDir(), "/pathsim-", getpid(), ".jsonl");
  Descriptor stop_{eventfd(0, EFD_CLOEXEC)};
  std::unique_ptr<Driver> driver_;
  std::thread thread_;
  std::vector<std::string> lines_;
};

TEST_F(DriverTest, HopsAnswerWhereTheTtlEndsAndTheTargetBeyond) {
  Start(
      "hops: [{v4: 203.0.113.1, v6: '2001:db8:1::1', forward: {delay: 500us}},"
      "{v4: 59.43.0.2, v6: '2001:db8:2::1'}]");
  for (int version : {4, 6}) {
    Pinger pinger(near_, version);
    std::vector<std::string> from;
    for (int ttl = 1; ttl <= 3; ++ttl) {
      pinger.Send(version == 4 ? "198.51.100.1" : "2001:db8:f::1", static_cast<uint16_t>(ttl), ttl);
      Pinger::Reply reply = pinger.Receive();
      from.push_back(reply.from);
      int expected = version == 4 ? (ttl < 3 ? 11 : 0) : (ttl < 3 ? 3 : 129);
      EXPECT_EQ(reply.type, expected) << "ttl " << ttl;
    }
    if (version == 4) {
      EXPECT_THAT(from, ElementsAre("203.0.113.1", "59.43.0.2", "198.51.100.1"));
    } else {
      EXPECT_THAT(from, ElementsAre("2001:db8:1::1", "2001:db8:2::1", "2001:db8:f::1"));
    }
  }
}

TEST_F(DriverTest, ReleasesNothingEarlyAndRecordsEveryDelay) {
  Start("hops: [{v4: 203.0.113.1, forward: {delay: 5ms}, reverse: {delay: 10ms}}]");
  Pinger pinger(near_, 4);
  for (uint16_t i = 0; i < 50; ++i) {
    pinger.Send("198.51.100.1", i, 64);
    EXPECT_EQ(pinger.Receive().sequence, i);
  }
  Stop();
  int seen = 0;
  for (const std::string& line : lines_) {
    // The totals speak of deliveries too.
    if (absl::StrContains(line, "\"what\":\"totals\"")) continue;
    if (!absl::StrContains(line, "\"what\":\"delivered\"")) continue;
    ++seen;
    int64_t configured = absl::StrContains(line, "forward") ? 7'000'000 : 13'000'000;
    EXPECT_GE(*NumberIn(line, "late_ns"), 0) << line;
    EXPECT_EQ(*NumberIn(line, "delay_ns") - *NumberIn(line, "late_ns"), configured) << line;
  }
  EXPECT_EQ(seen, 100);
}

TEST_F(DriverTest, WhatTheHostMissesIsWhatTheRecordLost) {
  Start(
      "hops: [{v4: 203.0.113.1, forward: {delay: 1ms, loss: 10%},"
      "reverse: {delay: 1ms, loss: {packets: [3, 10-12]}}}]");
  Pinger pinger(near_, 4);
  constexpr int kSent = 400;
  for (uint16_t i = 0; i < kSent; ++i) pinger.Send("198.51.100.77", i, 64);
  // Packets keep their order here: the reply to a later one says that no earlier one is to come.
  std::set<int> got;
  uint64_t lost = 0;
  for (int tries = 0; tries < 100; ++tries) {
    pinger.Send("198.51.100.77", 60000, 64);
    Pinger::Reply reply;
    do {
      reply = pinger.Receive();
      if (reply.sequence >= 0 && reply.sequence < kSent) got.insert(reply.sequence);
    } while (reply.type >= 0 && reply.sequence != 60000);
    if (reply.sequence == 60000) break;
  }
  Stop();
  std::set<int64_t> sequences_lost;
  std::map<int64_t, int64_t> sequence_of;
  for (const std::string& line : lines_) {
    if (absl::StrContains(line, "\"what\":\"sent\"")) {
      sequence_of[*NumberIn(line, "packet")] = *NumberIn(line, "icmp_sequence");
    }
    if (!absl::StrContains(line, "\"reason\":\"loss\"") ||
        !absl::StrContains(line, "\"what\":\"dropped\"")) {
      continue;
    }
    int64_t sequence = sequence_of[*NumberIn(line, "packet")];
    if (sequence < kSent) sequences_lost.insert(sequence);
    ++lost;
  }
  EXPECT_GT(lost, 4u);
  for (int i = 0; i < kSent; ++i) EXPECT_NE(got.contains(i), sequences_lost.contains(i)) << i;
}

TEST_F(DriverTest, PingAgreesWithTheRecord) {
  if (!subprocess::FindProgram("ping").ok()) GTEST_SKIP() << "iputils-ping is not installed";
  Start("hops: [{v4: 203.0.113.1, forward: {delay: 10ms, loss: {packets: [2, 5]}}}]");
  subprocess::Options options;
  options.argv = {"ip", "netns", "exec", near_, "ping", "-n",          "-c",
                  "8",  "-i",    "0.05", "-W",  "5",    "198.51.100.1"};
  options.standard_output = subprocess::Sink::Pipe();
  auto process = subprocess::Process::Start(options);
  ASSERT_TRUE(process.ok());
  std::string output;
  while (true) {
    absl::StatusOr<std::string> line = process->ReadLine(absl::Seconds(30));
    if (!line.ok()) break;
    absl::StrAppend(&output, *line, "\n");
    size_t at = line->find("time=");
    double time_ms;
    if (at == std::string::npos) continue;
    std::string number = line->substr(at + 5, line->find(' ', at) - at - 5);
    ASSERT_TRUE(absl::SimpleAtod(number, &time_ms)) << *line;
    // 10 ms and 2 ms out, 3 ms back; ping rounds to three digits.
    EXPECT_GE(time_ms, 14.9) << *line;
  }
  EXPECT_THAT(output, HasSubstr("8 packets transmitted, 6 received"));
  EXPECT_THAT(output, Not(HasSubstr("icmp_seq=2 ")));
  EXPECT_THAT(output, Not(HasSubstr("icmp_seq=5 ")));
  Stop();
  EXPECT_EQ(driver_->record().Count(Direction::kForward, What::kDropped, Reason::kLoss), 2u);
}

TEST_F(DriverTest, TheKernelLearnsThePathMtu) {
  Start("hops: [{v4: 203.0.113.1, v6: '2001:db8:1::1'}, {forward: {mtu: 1400}}]");
  for (int version : {4, 6}) {
    absl::Status status = RunInNameSpace(near_, [&]() -> absl::Status {
      Descriptor udp(socket(version == 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(9)};
      sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
      inet_pton(AF_INET, "198.51.100.1", &in.sin_addr);
      inet_pton(AF_INET6, "2001:db8:f::1", &in6.sin6_addr);
      bool v4 = version == 4;
      EXPECT_EQ(connect(udp.get(),
                        v4 ? reinterpret_cast<sockaddr*>(&in) : reinterpret_cast<sockaddr*>(&in6),
                        v4 ? sizeof(in) : sizeof(in6)),
                0);
      int level = v4 ? static_cast<int>(IPPROTO_IP) : static_cast<int>(IPPROTO_IPV6);
      int discover = IP_PMTUDISC_DO;  // the same number in IPv6
      setsockopt(udp.get(), level, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &discover,
                 sizeof(discover));
      Bytes data(1500 - (v4 ? 28 : 48));
      EXPECT_EQ(send(udp.get(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
      // The error that comes back makes the socket readable.
      pollfd error = {udp.get(), POLLIN, 0};
      EXPECT_EQ(poll(&error, 1, 10'000), 1);
      int mtu = 0;
      socklen_t length = sizeof(mtu);
      getsockopt(udp.get(), level, v4 ? IP_MTU : IPV6_MTU, &mtu, &length);
      EXPECT_EQ(mtu, 1400) << "IPv" << version;
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }
}

// The program, ended in every way.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(scenario_) << "near: {addresses: 192.0.2.1}\nfar: {addresses: 198.51.100.1}\n"
                                "hops: [{v4: 203.0.113.1, forward: {delay: 1ms}}]\n";
  }
  void TearDown() override { std::filesystem::remove(scenario_); }

  subprocess::Process Run(const std::vector<std::string>& more) {
    subprocess::Options options;
    options.argv = {absl::StrCat(ASSAY_BINARY_DIR, "/pathsim"), "--near", near_, "--far", far_};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    options.standard_output = subprocess::Sink::Pipe();
    auto process = subprocess::Process::Start(options);
    EXPECT_TRUE(process.ok()) << process.status();
    return *std::move(process);
  }
  bool NameSpacesExist() const {
    return std::filesystem::exists("/run/netns/" + near_) ||
           std::filesystem::exists("/run/netns/" + far_);
  }
  // Waits for the helper that removes them.
  bool NameSpacesGo() const {
    for (int i = 0; i < 3000 && NameSpacesExist(); ++i) absl::SleepFor(absl::Milliseconds(10));
    return !NameSpacesExist();
  }

  const std::string near_ = absl::StrCat("pathsim-n", getpid());
  const std::string far_ = absl::StrCat("pathsim-f", getpid());
  const std::string scenario_ = absl::StrCat(::testing::TempDir(), "/program-", getpid(), ".yaml");
};

TEST_F(ProgramTest, ExitsAsItsCommandDoes) {
  subprocess::Process process =
      Run({scenario_, "--", "sh", "-c", "ip -br link show path0; exit 7"});
  EXPECT_THAT(*process.ReadLine(absl::Seconds(30)), HasSubstr("path0"));
  EXPECT_EQ(process.Wait(absl::Seconds(30))->code, 7);
  EXPECT_FALSE(NameSpacesExist());
}

TEST_F(ProgramTest, LeavesNothingBehindHoweverItEnds) {
  for (int signal : {SIGTERM, SIGINT, SIGKILL}) {
    subprocess::Process process = Run({scenario_});
    ASSERT_EQ(*process.ReadLine(absl::Seconds(60)), "ready");
    EXPECT_TRUE(NameSpacesExist());
    ASSERT_TRUE(process.Signal(signal).ok());
    std::optional<subprocess::ExitStatus> status = process.Wait(absl::Seconds(30));
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->ok(), signal != SIGKILL);
    EXPECT_TRUE(NameSpacesGo()) << "after signal " << signal;
  }
}

TEST_F(ProgramTest, WrongUseMakesNothing) {
  EXPECT_EQ(Run({}).Wait(absl::Seconds(30))->code, 2);
  EXPECT_EQ(Run({scenario_, "ping"}).Wait(absl::Seconds(30))->code, 2);
  EXPECT_EQ(Run({"/nowhere.yaml"}).Wait(absl::Seconds(30))->code, 2);
  EXPECT_EQ(Run({"--record", "/nowhere/record", scenario_}).Wait(absl::Seconds(30))->code, 4);
  EXPECT_TRUE(NameSpacesGo());
}

}  // namespace
}  // namespace assay::pathsim
