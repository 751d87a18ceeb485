// Exact text, in both languages: what people read is a promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/render/fields.h"
#include "cli/render/identities.h"
#include "cli/render/json.h"
#include "cli/render/results.h"
#include "cli/render/run_view.h"
#include "cli/render/runs.h"
#include "cli/render/timetable.h"
#include "cli/render/view.h"
#include "common/base/proto_time.h"
#include "common/term/width.h"
#include "google/protobuf/text_format.h"

namespace assay::render {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
T Parse(const std::string& text) {
  T message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

View MakeView(Language language = Language::kEnglish,
              term::OutputFormat format = term::OutputFormat::kTable) {
  View view;
  view.language = language;
  view.format = format;
  EXPECT_TRUE(absl::LoadTimeZone("Asia/Shanghai", &view.zone));
  return view;
}

constexpr int64_t kNoon = 1796097600;  // 2026-12-01 12:00:00 in Shanghai

TEST(ViewTest, TimesAreLocalWithTheirOffset) {
  View view = MakeView();
  EXPECT_EQ(FormatTime(absl::FromUnixSeconds(kNoon), view), "2026-12-01 12:00:00 +08:00");
  EXPECT_EQ(MachineTime(ToProto(absl::FromUnixSeconds(kNoon))), "2026-12-01T04:00:00Z");
  EXPECT_EQ(FormatTime(google::protobuf::Timestamp(), view), "-");
}

TEST(ViewTest, SpansKeepTheTwoUnitsThatMatter) {
  const std::pair<int64_t, const char*> cases[] = {
      {-5, "0s"},     {0, "0s"},    {59, "59s"},    {60, "1m"},
      {130, "2m10s"}, {3600, "1h"}, {3661, "1h1m"}, {86400 * 3 + 3600, "3d1h"}};
  for (const auto& [seconds, expected] : cases) {
    EXPECT_EQ(FormatSpan(absl::Seconds(seconds)), expected) << seconds;
  }
}

TEST(ViewTest, BarsAreFullOnlyWhenAllIsDone) {
  EXPECT_EQ(Bar(0, 4), "----");
  EXPECT_EQ(Bar(0.5, 4), "##--");
  EXPECT_EQ(Bar(0.999, 4), "###-");
  EXPECT_EQ(Bar(1, 4), "####");
  EXPECT_EQ(Bar(7, 4), "####");
}

TEST(ViewTest, EveryEnumeratorThatIsShownHasAWord) {
  for (const google::protobuf::EnumDescriptor* type :
       {v1::SubjectKind_descriptor(), v1::Role_descriptor(), v1::AgentState_descriptor(),
        v1::ApplyAction_descriptor(), v1::RunState_descriptor(), v1::TaskState_descriptor(),
        v1::Outcome_descriptor(), v1::Origin_descriptor(), v1::Mark_descriptor(),
        v1::Severity_descriptor()}) {
    for (int i = 0; i < type->value_count(); ++i) {
      EXPECT_FALSE(
          absl::StartsWith(EnumText(*type, type->value(i)->number(), Language::kChinese), "cli."))
          << type->value(i)->full_name();
    }
    EXPECT_EQ(EnumText(*type, 4711, Language::kEnglish), "4711");
  }
}

TEST(JsonTest, ScalarsKeepTheirKindAndEnumeratorsTheirWord) {
  v1::Run run = Parse<v1::Run>(R"(id: "run-1" state: RUN_STATE_ACTIVE seed: 18446744073709551615
      started_at {seconds: 1796097600} counts {total: 2})");

  nlohmann::ordered_json json = ToJson(run, Language::kEnglish);

  EXPECT_EQ(json["state"], "active");
  EXPECT_EQ(json["seed"], 18446744073709551615u);
  EXPECT_EQ(json["started_at"], "2026-12-01T04:00:00Z");
  EXPECT_FALSE(json.contains("ended_at"));
  EXPECT_EQ(json["counts"]["done"], 0);
  EXPECT_EQ(json["warnings"], nlohmann::ordered_json::array());
}

TEST(JsonTest, SentencesComeWithTheirTextAndInfinityIsNull) {
  v1::GroupVerdict group = Parse<v1::GroupVerdict>(R"(interval_high: inf
      reason {id: "server.unknown_run" args {key: "run" value: "run-7"}})");

  nlohmann::ordered_json json = ToJson(group, Language::kChinese);

  EXPECT_TRUE(json["interval_high"].is_null());
  EXPECT_EQ(json["reason"]["id"], "server.unknown_run");
  EXPECT_EQ(json["reason"]["args"]["run"], "run-7");
  EXPECT_THAT(json["reason"]["text"].get<std::string>(), HasSubstr("没有运行 run-7"));
}

TEST(JsonTest, BytesThatAreNoUtf8DoNotStopIt) {
  v1::AgentInfo agent;
  agent.set_hostname("ok");
  nlohmann::ordered_json json = ToJson(agent, Language::kEnglish);
  json["hostname"] = "\xff\xfe";
  EXPECT_THAT(Pretty(json), HasSubstr("\xef\xbf\xbd"));
}

v1::ListAgentsResponse TwoAgents() {
  return Parse<v1::ListAgentsResponse>(R"(
      agents {subject_kind: SUBJECT_KIND_VANTAGE subject: "sz-office" state: AGENT_STATE_CONNECTED
              version: "0.1.0" hostname: "pc" last_seen_at {seconds: 1796097600}
              clock {offset {nanos: 3200000}} running_tasks: 1
              capabilities {probe: "icmp" reason {id: "agent.no_such" args {key: "a" value: "b"}}}
              capabilities {probe: "tcp" supported: true}}
      agents {subject_kind: SUBJECT_KIND_SERVER subject: "hk-gpu-01"
              state: AGENT_STATE_NEVER_SEEN})");
}

TEST(AgentsTest, TableInEnglish) {
  EXPECT_EQ(
      Agents(TwoAgents(), MakeView()),
      "agent      kind     state       probes  running  clock offset  last seen                "
      "   version  host\n"
      "sz-office  vantage  connected   tcp           1       +3.2 ms  2026-12-01 12:00:00 "
      "+08:00  0.1.0    pc\n"
      "hk-gpu-01  server   never seen  -             0                -\n"
      "! sz-office icmp: agent.no_such a=b\n");
}

TEST(AgentsTest, TableInChinese) {
  EXPECT_EQ(Agents(TwoAgents(), MakeView(Language::kChinese)),
            "代理       类型    状态      可执行探测  执行中  时钟偏差  最近在线                   "
            " 版本   主机\n"
            "sz-office  观测点  已连接    tcp              1   +3.2 ms  2026-12-01 12:00:00 +08:00 "
            " 0.1.0  pc\n"
            "hk-gpu-01  服务器  从未连接  -                0            -\n"
            "! sz-office icmp: agent.no_such a=b\n");
}

TEST(AgentsTest, CsvSpeaksNoLanguage) {
  std::string csv = Agents(TwoAgents(), MakeView(Language::kChinese, term::OutputFormat::kCsv));

  std::vector<std::string> lines = absl::StrSplit(csv, "\r\n");
  EXPECT_EQ(lines[0],
            "agent,subject_kind,agent_state,probes,running,clock_offset,last_seen,version,host,"
            "peer,certificate_expires,agent_id");
  EXPECT_EQ(lines[1], "sz-office,vantage,connected,tcp,1,3.2,2026-12-01T04:00:00Z,0.1.0,pc,,,");
}

TEST(AgentsTest, NoneSaysHowToGetOne) {
  EXPECT_THAT(Agents({}, MakeView()), HasSubstr("assay token create --server"));
  EXPECT_EQ(ToJson(v1::ListAgentsResponse(), Language::kEnglish).dump(), R"({"agents":[]})");
}

TEST(TokenTest, TheJoinCommandStandsAloneOnItsLine) {
  v1::CreateTokenRequest request;
  request.set_subject_kind(v1::SUBJECT_KIND_SERVER);
  request.set_subject("hk-gpu-01");
  v1::CreateTokenResponse token;
  token.set_join_command("assay-agent join a:1 --token t --ca-fingerprint f");
  token.mutable_expires_at()->set_seconds(kNoon);

  EXPECT_EQ(Token(request, token, MakeView()),
            "Run this once on the host of the server hk-gpu-01:\n\n"
            "  assay-agent join a:1 --token t --ca-fingerprint f\n\n"
            "It works once, until 2026-12-01 12:00:00 +08:00.\n");
  EXPECT_EQ(Token(request, token, MakeView(Language::kChinese)),
            "请在服务器 hk-gpu-01 的主机上运行一次：\n\n"
            "  assay-agent join a:1 --token t --ca-fingerprint f\n\n"
            "只能使用一次，有效期至 2026-12-01 12:00:00 +08:00。\n");
}

TEST(AppliedTest, ChangesStandUnderTheirDocument) {
  v1::ApplyResponse response = Parse<v1::ApplyResponse>(R"(
      documents {kind: "server" name: "hk" action: APPLY_ACTION_UPDATED
                 changes: "claim.gpu_count: 4 -> 8"}
      documents {kind: "plan" name: "p" action: APPLY_ACTION_UNCHANGED})");

  EXPECT_EQ(Applied(response, /*dry_run=*/true, MakeView()),
            "server hk: updated\n    claim.gpu_count: 4 -> 8\nplan p: unchanged\n"
            "Nothing was stored (--dry-run).\n");
  EXPECT_EQ(Applied(response, /*dry_run=*/false, MakeView(Language::kChinese)),
            "服务器 hk：已更新\n    claim.gpu_count: 4 -> 8\n计划 p：无变化\n");
}

TEST(AppliedTest, WhatARemoteSentCannotSteerTheTerminal) {
  v1::ApplyResponse response;
  response.add_documents()->add_changes("\x1b[31mred");

  EXPECT_EQ(Applied(response, false, MakeView()).find('\x1b'), std::string::npos);
}

v1::StoredResult IcmpResult() {
  return Parse<v1::StoredResult>(R"(
      id: 7 ref {run: "run-1" task: 3 attempt: 1} server: "hk" vantage: "sz" probe: "echo"
      window: "peak"
      result {outcome: OUTCOME_OK started_at {seconds: 1796097600}}
      metrics {name: "icmp.rtt_ms" samples {values: [12.5, 11.5, 13.5]}}
      metrics {name: "icmp.duplicate_ratio" proportion {trials: 3}}
      metrics {name: "icmp.loss_ratio" proportion {events: 1 trials: 4}})");
}

TEST(ResultsTest, TheHeadlineHasWhatSaysMost) {
  EXPECT_EQ(Headline(IcmpResult(), MakeView()), "loss_ratio 25 %, rtt_ms 12.5 ms");
}

TEST(ResultsTest, TheHeadlineOfAFailureIsItsReason) {
  v1::StoredResult result = Parse<v1::StoredResult>(R"(result {outcome: OUTCOME_FAILED
      reason {id: "server.unknown_run" args {key: "run" value: "r"}}})");
  EXPECT_THAT(Headline(result, MakeView(Language::kChinese)), HasSubstr("没有运行 r"));
}

TEST(ResultsTest, AListIsATable) {
  v1::ListResultsResponse results;
  *results.add_results() = IcmpResult();

  EXPECT_EQ(Results(results, MakeView(Language::kChinese)),
            "结果  测量开始                    路径     探测  窗口  结果状态  数值\n"
            "   7  2026-12-01 12:00:00 +08:00  sz → hk  echo  peak  已测得    loss_ratio 25 %, "
            "rtt_ms 12.5 ms\n");
}

TEST(ResultsTest, JsonOfOneHasTheSummaryAndTheReadableEvidence) {
  v1::StoredResult result = IcmpResult();
  result.mutable_result()->set_evidence_zstd("packed");
  v1::IcmpEvidence& icmp = *result.mutable_evidence()->mutable_icmp();
  icmp.mutable_parameters()->set_count(2);
  icmp.mutable_parameters()->mutable_timeout()->set_seconds(2);
  for (int64_t rtt : {12'000'000, -1}) {
    icmp.add_send_offset_ns(0);
    icmp.add_rtt_ns(rtt);
  }

  auto json = nlohmann::ordered_json::parse(
      Result(result, MakeView(Language::kEnglish, term::OutputFormat::kJson)));

  EXPECT_EQ(json["id"], 7);
  EXPECT_EQ(json["summary"]["sent"], 2);
  EXPECT_EQ(json["summary"]["received"], 1);
  EXPECT_EQ(json["evidence"]["icmp"]["rtt_ns"][1], -1);
  EXPECT_EQ(json["result"]["evidence_zstd"], "");
}

// ---- a run as it goes

v1::GetRunResponse FourTasks() {
  return Parse<v1::GetRunResponse>(R"(
      run {id: "run-1" plan: "trial" state: RUN_STATE_ACTIVE planned_end_at {seconds: 1796097800}
           counts {total: 4 pending: 2 leased: 1 done: 1}}
      tasks {index: 0 server: "hk" vantage: "sz" probe: "echo" window: "peak"
             state: TASK_STATE_DONE due_at {seconds: 1796097600} result_id: 7}
      tasks {index: 1 server: "hk" vantage: "sz" probe: "web" window: "peak"
             state: TASK_STATE_LEASED due_at {seconds: 1796097610}}
      tasks {index: 2 server: "hk" vantage: "sz" probe: "echo" window: "off-peak"
             state: TASK_STATE_PENDING due_at {seconds: 1796097700}}
      tasks {index: 3 server: "hk" vantage: "sz" probe: "web" window: "off-peak"
             state: TASK_STATE_PENDING due_at {seconds: 1796097710}})");
}

std::vector<uint32_t> Indices(const std::vector<v1::Task>& tasks) {
  std::vector<uint32_t> indices;
  for (const v1::Task& task : tasks) indices.push_back(task.index());
  return indices;
}

TEST(RunViewTest, EachEndedTaskIsReportedOnce) {
  RunView view;
  EXPECT_THAT(Indices(view.Reset(FourTasks())), ElementsAre(0));
  v1::RunProgress progress;
  *progress.mutable_run() = FourTasks().run();
  *progress.add_ended() = FourTasks().tasks(0);
  *progress.add_ended() = FourTasks().tasks(1);
  progress.mutable_ended(1)->set_state(v1::TASK_STATE_MISSED);

  EXPECT_THAT(Indices(view.Apply(progress)), ElementsAre(1));
  EXPECT_TRUE(view.Reset(FourTasks()).empty());  // after a reconnect
}

TEST(RunViewTest, BlockInEnglish) {
  RunView view;
  view.Reset(FourTasks());
  v1::RunProgress progress;
  *progress.mutable_run() = FourTasks().run();
  *progress.add_running() = FourTasks().tasks(1);
  progress.add_fractions(0.5);
  progress.mutable_next_due_at()->set_seconds(kNoon + 100);
  view.Apply(progress);
  view.Remember("12:00:01  done  echo");

  EXPECT_EQ(view.Block(absl::FromUnixSeconds(kNoon + 20), MakeView()),
            "run-1  plan trial  active  1/4 tasks\n"
            "  peak      sz  [############------------] 1/2\n"
            "  off-peak  sz  [------------------------] 0/2\n"
            "running\n"
            "  [############------------]  50 %  web  sz → hk  peak\n"
            "last results\n"
            "  12:00:01  done  echo\n"
            "next task in 1m20s, end in 3m\n");
}

TEST(RunViewTest, BlockInChinese) {
  RunView view;
  v1::GetRunResponse snapshot = FourTasks();
  snapshot.mutable_tasks(1)->set_state(v1::TASK_STATE_FAILED);
  view.Reset(snapshot);

  EXPECT_EQ(view.Block(absl::FromUnixSeconds(kNoon + 20), MakeView(Language::kChinese)),
            "run-1  计划 trial  进行中  1/4 个任务\n"
            "  peak      sz  [########################] 2/2  1 失败\n"
            "  off-peak  sz  [------------------------] 0/2\n"
            "结束 3m 后\n");
}

TEST(RunViewTest, AnEndedTaskIsOneLineInEveryFormat) {
  v1::Task task = FourTasks().tasks(0);
  v1::StoredResult result = IcmpResult();
  absl::Time now = absl::FromUnixSeconds(kNoon);

  EXPECT_EQ(EndedTask(task, result, now, MakeView()),
            "12:00:00  done  echo  sz → hk  peak  loss_ratio 25 %, rtt_ms 12.5 ms\n");
  EXPECT_EQ(
      EndedTask(task, result, now, MakeView(Language::kEnglish, term::OutputFormat::kCsv)),
      "0,done,hk,sz,echo,peak,2026-12-01T04:00:00Z,7,\"loss_ratio 25 %, rtt_ms 12.5 ms\",\r\n");
  std::string line =
      EndedTask(task, result, now, MakeView(Language::kEnglish, term::OutputFormat::kJson));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(line)["metrics"][0]["name"], "icmp.rtt_ms");
}

TEST(RunsTest, ShowPutsWhatNeedsAttentionFirst) {
  v1::GetRunResponse response = FourTasks();
  response.mutable_tasks(3)->set_state(v1::TASK_STATE_FAILED);
  *response.mutable_tasks(3)->mutable_reason() = MakeMessage("server.unknown_run", {{"run", "x"}});

  std::string text = RunWithTasks(response, MakeView());

  EXPECT_LT(text.find("no run x"), text.find("running"));
  EXPECT_THAT(text, HasSubstr("1 of 4 ended: 1 done, 0 failed"));
}

TEST(TimetableTest, ListsTasksThenDays) {
  schedule::Timetable timetable;
  timetable.end = absl::FromUnixSeconds(kNoon + 60);
  for (uint32_t i = 0; i < 3; ++i) {
    schedule::PlannedTask task;
    task.index = i;
    task.server = "hk";
    task.vantage = "sz";
    task.probe = "echo";
    task.window = "peak";
    task.day = absl::CivilDay(2026, 12, 1);
    task.due = absl::FromUnixSeconds(kNoon + 10 * i);
    timetable.tasks.push_back(task);
  }
  v1::Plan plan;
  plan.set_name("p");

  EXPECT_EQ(Timetable(plan, timetable, /*most=*/2, /*seed_is_drawn=*/false, MakeView()),
            "Timetable of plan p\n\n"
            "task  due                         window  path     probe\n"
            "   0  2026-12-01 12:00:00 +08:00  peak    sz → hk  echo\n"
            "   1  2026-12-01 12:00:10 +08:00  peak    sz → hk  echo\n"
            "… and 1 more; --all shows them\n\n"
            "day         window  first task                  last task                   tasks  "
            "agents\n"
            "2026-12-01  peak    2026-12-01 12:00:00 +08:00  2026-12-01 12:00:20 +08:00      3    "
            "   1\n\n"
            "3 tasks; the last window ends at 2026-12-01 12:01:00 +08:00.\n");
}

TEST(FieldsTest, ALongWarningHangsUnderItsMark) {
  View view = MakeView();
  view.terminal.width = 26;
  EXPECT_EQ(Warning("the clock of this host is far off", view),
            "! the clock of this host\n  is far off\n");
}

}  // namespace
}  // namespace assay::render
