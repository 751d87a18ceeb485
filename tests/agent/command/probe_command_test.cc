#include "agent/command/probe_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/term/width.h"
#include "nlohmann/json.hpp"
#include "tests/agent/service/tiny_server.h"

namespace assay::command {
namespace {

using agent::service::TinyServer;
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// The way of a main(): language, parse, run.
Ran RunAgent(std::vector<std::string> words, term::Terminal err_terminal = {}, int err_fd = -1) {
  words.insert(words.begin(), "assay-agent");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  int argc = static_cast<int>(argv.size());
  std::ostringstream out, err;
  Language language = term::LanguageOfCommandLine(
      argc, argv.data(), [](const char*) { return std::optional<std::string>("en"); });
  Io io{.out = out,
        .err = err,
        .out_terminal = {},
        .err_terminal = err_terminal,
        .err_fd = err_fd,
        .language = language};
  CLI::App program("Agent", "assay-agent");
  program.require_subcommand(1);
  ProbeCommand probe(program, language);
  Ran ran;
  try {
    program.parse(argc, argv.data());
    EXPECT_TRUE(probe.chosen());
    io.language = Language::kEnglish;  // as of a program that doesn't see the --lang behind a kind
    ran.exit_code = probe.Run(io);
  } catch (const CLI::ParseError& error) {
    ran.exit_code = ReportParseError(program, error, io);
  }
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

void Hello(const TinyServer::Connection& c) {
  c.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

class ProbeCommandTest : public ::testing::Test {
 protected:
  ProbeCommandTest() {
    for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) unsetenv(name);
  }
  TinyServer server_{Hello};
  std::string host_port_ = absl::StrCat("127.0.0.1:", server_.port());
  std::string url_ = absl::StrCat("http://", host_port_, "/health");
};

TEST_F(ProbeCommandTest, HttpAsJson) {
  Ran ran =
      RunAgent({"probe", "http", url_, "--count", "3", "--interval", "1ms", "--output", "json"});
  EXPECT_EQ(ran.exit_code, kDone) << ran.err;
  EXPECT_EQ(ran.err, "");
  json report = json::parse(ran.out);
  EXPECT_EQ(report["kind"], "http");
  EXPECT_EQ(report["target"], url_);
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["address"], "127.0.0.1");
  EXPECT_FALSE(report.contains("reason"));
  EXPECT_EQ(report["summary"]["requests"], 3);
  EXPECT_EQ(report["summary"]["failures"], 0);
  EXPECT_GT(report["summary"]["total_ms"]["median"].get<double>(), 0);
  EXPECT_THAT(server_.requests().at(0), StartsWith("GET /health HTTP/1.1"));
}

TEST_F(ProbeCommandTest, TcpInAllItsSpellings) {
  std::string port = absl::StrCat(server_.port());
  const std::vector<std::vector<std::string>> spellings = {{host_port_}, {"127.0.0.1", port}};
  for (const std::vector<std::string>& spelling : spellings) {
    std::vector<std::string> words = {"probe", "tcp"};
    words.insert(words.end(), spelling.begin(), spelling.end());
    words.insert(words.end(), {"-n", "2", "--interval", "1ms", "--output", "json"});
    Ran ran = RunAgent(words);
    EXPECT_EQ(ran.exit_code, kDone) << ran.err;
    json report = json::parse(ran.out);
    EXPECT_EQ(report["target"], host_port_);
    EXPECT_EQ(report["summary"]["attempts"], 2);
    EXPECT_EQ(report["summary"]["failures"], 0);
  }
}

TEST_F(ProbeCommandTest, AServerThatFailsIsMeasuredAllTheSame) {
  uint16_t closed = TinyServer(Hello).port();
  Ran ran = RunAgent({"probe", "tcp", absl::StrCat("127.0.0.1:", closed), "--count", "3",
                      "--interval", "1ms", "--output", "json"});
  EXPECT_EQ(ran.exit_code, kDone);
  json report = json::parse(ran.out);
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["summary"]["failure_ratio"], 1.0);
  EXPECT_EQ(report["summary"]["reasons"]["refused"], 3);
}

TEST_F(ProbeCommandTest, Icmp) {
  Ran ran = RunAgent({"probe", "icmp", "127.0.0.1", "--count", "3", "--interval", "1ms",
                      "--payload", "100", "--dscp", "46", "-4", "--output", "json"});
  ASSERT_EQ(ran.exit_code, kDone) << ran.out << ran.err;
  json report = json::parse(ran.out);
  EXPECT_EQ(report["summary"]["sent"], 3);
  EXPECT_EQ(report["summary"]["received"], 3);
  EXPECT_EQ(report["summary"]["loss_ratio"], 0.0);
}

TEST_F(ProbeCommandTest, WhatCurlSaidOfAFailureIsRepeatedOnce) {
  uint16_t closed = TinyServer(Hello).port();
  std::string url = absl::StrCat("http://127.0.0.1:", closed);
  Ran ran = RunAgent({"probe", "http", url, "-n", "2", "--interval", "1ms", "--output", "json"});
  json report = json::parse(ran.out);
  EXPECT_EQ(report["summary"]["reasons"]["connect"], 2);
  ASSERT_GE(report["errors"].size(), 1u);
  EXPECT_THAT(report["errors"][0]["text"].get<std::string>(), HasSubstr("connect"));
  EXPECT_THAT(RunAgent({"probe", "http", url, "-n", "1"}).out, HasSubstr("\nerror: "));
}

// A key without a label would reach readers as code.
TEST_F(ProbeCommandTest, EveryKeyOfASummaryHasALabel) {
  const std::vector<std::vector<std::string>> kinds = {
      {"icmp", "127.0.0.1"}, {"tcp", host_port_}, {"http", url_}};
  for (const std::vector<std::string>& kind : kinds) {
    Ran ran = RunAgent({"probe", kind[0], kind[1], "--count", "1", "--output", "json"});
    json summary = json::parse(ran.out)["summary"];
    ASSERT_GT(summary.size(), 5u);
    for (const auto& [key, value] : summary.items()) {
      std::string id = absl::StrCat("summary.", key == "loss_bursts" ? "loss_bursts.count" : key);
      EXPECT_NE(Text(Language::kChinese, id), id);
    }
  }
}

TEST_F(ProbeCommandTest, ForPeopleInBothLanguages) {
  Ran english = RunAgent({"probe", "http", url_, "--count", "1"});
  EXPECT_EQ(english.exit_code, kDone);
  EXPECT_THAT(english.out, StartsWith(absl::StrCat("http ", url_, " (127.0.0.1)\n")));
  EXPECT_THAT(english.out, HasSubstr("\nfailure ratio  0 %\n"));
  EXPECT_THAT(english.out, HasSubstr("\nstatus codes   200 1\n"));
  EXPECT_THAT(english.out, HasSubstr("first byte"));
  Ran chinese = RunAgent({"probe", "http", url_, "--count", "1", "--lang", "zh"});
  EXPECT_THAT(chinese.out, HasSubstr("\n失败率  0 %\n"));
  EXPECT_THAT(chinese.out, HasSubstr("首字节"));
  EXPECT_EQ(chinese.out.find('_'), std::string::npos) << chinese.out;
}

TEST_F(ProbeCommandTest, CsvIsAHeaderAndARow) {
  Ran ran = RunAgent({"probe", "http", url_, "--count", "1", "--output", "csv"});
  std::vector<std::string> lines = absl::StrSplit(ran.out, "\r\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], StartsWith("kind,target,outcome,address,started_at,duration_s,"));
  EXPECT_THAT(lines[0], HasSubstr(",summary.total_ms.median,"));
  EXPECT_THAT(lines[1], StartsWith(absl::StrCat("http,", url_, ",ok,127.0.0.1,")));
  std::vector<std::string> keys = absl::StrSplit(lines[0], ',');
  std::vector<std::string> values = absl::StrSplit(lines[1], ',');
  EXPECT_EQ(keys.size(), values.size());
}

TEST_F(ProbeCommandTest, ANameThatDoesNotResolveCannotBeMeasured) {
  Ran ran = RunAgent({"probe", "icmp", "no-such-host.invalid", "--output", "json"});
  EXPECT_EQ(ran.exit_code, kNotMeasured);
  json report = json::parse(ran.out);
  EXPECT_EQ(report["outcome"], "failed");
  EXPECT_EQ(report["reason_id"], "probe.not_resolved");
  EXPECT_THAT(report["reason"].get<std::string>(), HasSubstr("no-such-host.invalid"));
  EXPECT_TRUE(report["summary"].is_null());
}

class ConfigTest : public ProbeCommandTest {
 protected:
  ConfigTest() {
    char pattern[] = "/tmp/assay-command-XXXXXX";
    close(mkstemp(pattern));
    path_ = pattern;
  }
  ~ConfigTest() override { unlink(path_.c_str()); }
  Ran WithConfig(const std::string& yaml) {
    std::ofstream(path_) << yaml;
    return RunAgent({"probe", "http", url_, "--count", "1", "--output", "json", "--config", path_});
  }
  std::string path_;
};

TEST_F(ConfigTest, RulesHold) {
  struct ConfigCase {
    const char* yaml;
    const char* reason_id;  // "": measured
  };
  const ConfigCase cases[] = {
      {"", ""},
      {"targets: {deny: ['127.0.0.0/8']}", "guard.denied"},
      {"targets: {allow: ['203.0.113.0/24']}", "guard.not_allowed"},
      {"probes: [icmp]", "guard.probe_not_allowed"},
      {"nonsense: 1", "guard.unknown_key"},
  };
  for (const ConfigCase& c : cases) {
    Ran ran = WithConfig(c.yaml);
    json report = json::parse(ran.out);
    bool measured = c.reason_id[0] == '\0';
    EXPECT_EQ(ran.exit_code, measured ? kDone : kNotMeasured) << c.yaml;
    EXPECT_EQ(report["outcome"], measured ? "ok" : "not_measurable");
    if (!measured) {
      EXPECT_EQ(report["reason_id"], c.reason_id);
    }
  }
  EXPECT_EQ(server_.requests().size(), 1u);
}

struct UsageCase {
  std::vector<std::string> words;
  const char* complaint;  // part of the line
};

TEST_F(ProbeCommandTest, BadUsageIsOneLine) {
  const UsageCase cases[] = {
      {{}, "assay-agent: "},
      {{"probe"}, "assay-agent probe: "},
      {{"probe", "icmp"}, "assay-agent probe icmp: TARGET is missing"},
      {{"probe", "icmp", "127.0.0.1", "--nonsense"}, "\"--nonsense\" was not expected"},
      {{"probe", "icmp", "127.0.0.1", "extra"}, "\"extra\" was not expected"},
      {{"probe", "icmp", "127.0.0.1", "--count"}, "--count"},
      {{"probe", "icmp", "127.0.0.1", "--count", "x"}, "--count: \"x\" is not a whole number"},
      {{"probe", "icmp", "127.0.0.1", "--count", "0"}, "from 1 to 100000"},
      {{"probe", "icmp", "127.0.0.1", "--interval", "50"}, "--interval: "},
      {{"probe", "icmp", "127.0.0.1", "--timeout", "1 fortnight"}, "--timeout: "},
      {{"probe", "icmp", "127.0.0.1", "--payload", "15"}, "--payload: "},
      {{"probe", "icmp", "127.0.0.1", "--dscp", "64"}, "--dscp: "},
      {{"probe", "icmp", "127.0.0.1", "-4", "-6"}, "-4 and -6"},
      {{"probe", "icmp", "127.0.0.1", "--output", "xml"}, "unknown output format \"xml\""},
      {{"probe", "icmp", "127.0.0.1", "--lang", "fr"}, "unknown language \"fr\""},
      {{"probe", "icmp", "127.0.0.1", "--config", "/nonexistent/agent.yaml"}, "does not exist"},
      {{"probe", "tcp", "127.0.0.1"}, "\"127.0.0.1\" names no port"},
      {{"probe", "tcp", "::1"}, "\"::1\" names no port"},
      {{"probe", "tcp", "127.0.0.1:x"}, "PORT: \"x\""},
      {{"probe", "tcp", "127.0.0.1:65536"}, "PORT: \"65536\""},
      {{"probe", "http", "ftp://127.0.0.1/"}, "no http:// or https:// URL"},
      {{"probe", "http", "127.0.0.1", "--timeout", "2h"}, "timeout is 2h"},
      {{"probe", "http", "127.0.0.1", "--max-body", "10"}, "--max-body: "},
      {{"probe", "http", "127.0.0.1", "--expect-status", "99"}, "--expect-status: "},
      {{"probe", "telnet", "127.0.0.1"}, "assay-agent probe: "},
  };
  for (const UsageCase& c : cases) {
    Ran ran = RunAgent(c.words);
    EXPECT_EQ(ran.exit_code, kUsage) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(c.complaint));
    EXPECT_THAT(ran.err, EndsWith("\n"));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(ProbeCommandTest, ComplainsInChinese) {
  EXPECT_THAT(RunAgent({"probe", "tcp", "127.0.0.1", "--lang", "zh"}).err,
              HasSubstr("“127.0.0.1”没有端口"));
  EXPECT_THAT(RunAgent({"probe", "icmp", "--lang", "zh"}).err, HasSubstr("缺少 TARGET"));
  EXPECT_THAT(RunAgent({"probe", "icmp", "127.0.0.1", "--count", "x", "--lang", "zh"}).err,
              HasSubstr("--count：“x”不是 1 到 100000 之间的整数"));
}

TEST_F(ProbeCommandTest, HelpIsNoError) {
  Ran english = RunAgent({"probe", "icmp", "--help"});
  EXPECT_EQ(english.exit_code, kDone);
  EXPECT_THAT(english.out, HasSubstr("--payload"));
  EXPECT_THAT(english.out, HasSubstr("default 50ms"));
  EXPECT_THAT(english.out, HasSubstr("Exit codes: 0"));
  EXPECT_THAT(RunAgent({"probe", "tcp", "--help", "--lang", "zh"}).out, HasSubstr("退出码"));
  EXPECT_THAT(RunAgent({"probe", "--help"}).out, HasSubstr("icmp"));
}

TEST_F(ProbeCommandTest, ProgressIsShownOnATerminalAndLeavesNothingBehind) {
  int master = -1;
  int slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  term::Terminal terminal{.interactive = true, .width = 80, .height = 24, .colour = true};
  Ran ran = RunAgent({"probe", "http", url_, "--count", "1"}, terminal, slave);
  EXPECT_EQ(ran.err, "");
  char buffer[4096];
  ssize_t got = read(master, buffer, sizeof buffer);
  ASSERT_GT(got, 0);
  std::string shown(buffer, static_cast<size_t>(got));
  EXPECT_THAT(shown, HasSubstr(absl::StrCat("http ", url_, "  0 %")));
  EXPECT_THAT(shown, EndsWith("\033[1A\r\033[J"));
  close(master);
  close(slave);
}

}  // namespace
}  // namespace assay::command
