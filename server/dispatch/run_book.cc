#include "server/dispatch/run_book.h"

#include <spdlog/spdlog.h>

#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/schedule/timetable.h"
#include "core/verdict/evaluate.h"

namespace assay::dispatch {
namespace {

constexpr uint32_t kDefaultRunLimit = 50;
constexpr uint32_t kResultPage = 10000;

// "run-20261201-7f3k9m": the day for people, the rest against collisions.
std::string NewRunId(absl::Time now) {
  static constexpr char kAlphabet[] = "23456789abcdefghjkmnpqrstuvwxyz";
  std::random_device random;
  std::string suffix;
  for (int i = 0; i < 6; ++i) suffix += kAlphabet[random() % (sizeof(kAlphabet) - 1)];
  return absl::StrCat("run-", absl::FormatTime("%Y%m%d", now, absl::UTCTimeZone()), "-", suffix);
}

uint64_t NewSeed() {
  std::random_device random;
  uint64_t seed = (static_cast<uint64_t>(random()) << 32) | random();
  return seed == 0 ? 1 : seed;
}

// When the result began by the coordinator's clock.
absl::Time StartedAt(const v1::StoredResult& stored) {
  const v1::Result& result = stored.result();
  if (!result.has_started_at()) return FromProto(stored.received_at());
  absl::Time agent_time = FromProto(result.started_at());
  if (result.has_clock()) return agent_time - FromProto(result.clock().offset());
  return agent_time;
}

verdict::Observation ToObservation(const v1::StoredResult& stored,
                                   const std::vector<store::TaskRecord>& tasks) {
  verdict::Observation observation;
  observation.result_id = stored.id();
  observation.vantage = stored.vantage();
  observation.window = stored.window();
  observation.probe = stored.probe();
  if (stored.ref().task() < tasks.size()) observation.day = tasks[stored.ref().task()].day;
  observation.started_at = StartedAt(stored);
  observation.outcome = stored.result().outcome();
  observation.reason = stored.result().reason();
  observation.metrics.assign(stored.metrics().begin(), stored.metrics().end());
  for (int mark : stored.result().marks()) observation.marks.push_back(static_cast<v1::Mark>(mark));
  observation.evidence_sha256 = stored.evidence_sha256();
  return observation;
}

}  // namespace

v1::Run RunProto(const store::RunRecord& run, const v1::TaskCounts& counts) {
  v1::Run proto;
  proto.set_id(run.id);
  proto.set_plan(run.plan.name());
  proto.set_state(run.state);
  *proto.mutable_started_at() = ToProto(run.started_at);
  if (run.ended_at.has_value()) *proto.mutable_ended_at() = ToProto(*run.ended_at);
  *proto.mutable_planned_end_at() = ToProto(run.planned_end_at);
  proto.set_seed(run.seed);
  proto.set_started_by(run.started_by);
  *proto.mutable_counts() = counts;
  for (const v1::Server& server : run.servers) proto.add_servers(server.name());
  return proto;
}

v1::Task TaskProto(const store::TaskRecord& task) {
  v1::Task proto;
  proto.set_index(task.index);
  proto.set_server(task.server);
  proto.set_vantage(task.vantage);
  proto.set_probe(task.probe);
  proto.set_window(task.window);
  *proto.mutable_due_at() = ToProto(task.due);
  *proto.mutable_window_end_at() = ToProto(task.window_end);
  proto.set_state(task.state);
  proto.set_attempt(task.attempt);
  if (!task.reason.id().empty()) *proto.mutable_reason() = task.reason;
  proto.set_result_id(task.result_id);
  return proto;
}

v1::RunProgress ProgressProto(const RunView& view, absl::Time now) {
  v1::RunProgress progress;
  *progress.mutable_run() = RunProto(view.run, view.counts);
  for (const TaskView& task : view.running) {
    *progress.add_running() = TaskProto(task.record);
    progress.add_fractions(task.fraction);
  }
  for (const TaskView& task : view.ended) *progress.add_ended() = TaskProto(task.record);
  if (view.next_due != absl::InfiniteFuture()) {
    *progress.mutable_next_due_at() = ToProto(view.next_due);
  }
  *progress.mutable_time() = ToProto(now);
  return progress;
}

absl::StatusOr<store::RunRecord> RunBook::Freeze(absl::string_view plan_name,
                                                 absl::string_view person) {
  absl::StatusOr<v1::Document> document = store_->GetDocument("plan", plan_name);
  if (absl::IsNotFound(document.status())) {
    return Error(absl::StatusCode::kNotFound, "server.unknown_plan",
                 {{"name", std::string(plan_name)}});
  }
  ASSAY_RETURN_IF_ERROR(document.status());

  store::RunRecord run;
  run.plan = document->plan();
  for (const std::string& name : run.plan.servers()) {
    absl::StatusOr<v1::Document> server = store_->GetDocument("server", name);
    if (absl::IsNotFound(server.status())) {
      return Error(absl::StatusCode::kNotFound, "server.unknown_server", {{"name", name}});
    }
    ASSAY_RETURN_IF_ERROR(server.status());
    run.servers.push_back(server->server());
  }
  for (const std::string& name : run.plan.vantages()) {
    absl::StatusOr<v1::Document> vantage = store_->GetDocument("vantage", name);
    if (absl::IsNotFound(vantage.status())) {
      return Error(absl::StatusCode::kNotFound, "server.unknown_vantage", {{"name", name}});
    }
    ASSAY_RETURN_IF_ERROR(vantage.status());
    run.vantages.push_back(vantage->vantage());
  }
  v1::Profile profile;
  if (!run.plan.profile().empty()) {
    absl::StatusOr<v1::Document> found = store_->GetDocument("profile", run.plan.profile());
    if (absl::IsNotFound(found.status())) {
      return Error(absl::StatusCode::kNotFound, "server.unknown_profile",
                   {{"name", run.plan.profile()}});
    }
    ASSAY_RETURN_IF_ERROR(found.status());
    profile = found->profile();
  }
  run.criteria = verdict::MergeCriteria(profile, run.plan);
  run.started_at = clock_->Now();
  run.id = NewRunId(run.started_at);
  run.seed = run.plan.seed() != 0 ? run.plan.seed() : NewSeed();
  run.started_by = std::string(person);
  return run;
}

absl::StatusOr<v1::Run> RunBook::Start(absl::string_view plan, absl::string_view person) {
  ASSAY_ASSIGN_OR_RETURN(store::RunRecord run, Freeze(plan, person));
  ASSAY_ASSIGN_OR_RETURN(
      schedule::Timetable timetable,
      schedule::MakeTimetable(run.plan, {run.servers, run.vantages}, run.started_at, run.seed));
  run.planned_end_at = timetable.end;
  std::vector<store::TaskRecord> tasks;
  tasks.reserve(timetable.tasks.size());
  for (const schedule::PlannedTask& planned : timetable.tasks) {
    store::TaskRecord task;
    task.run = run.id;
    task.index = planned.index;
    task.server = planned.server;
    task.vantage = planned.vantage;
    task.probe = planned.probe;
    task.window = planned.window;
    task.day = planned.day;
    task.due = planned.due;
    task.window_end = planned.window_end;
    task.time_limit = planned.time_limit;
    tasks.push_back(std::move(task));
  }
  ASSAY_RETURN_IF_ERROR(store_->InsertRun(run, tasks));
  v1::TaskCounts counts;
  counts.set_total(static_cast<uint32_t>(tasks.size()));
  counts.set_pending(counts.total());
  dispatcher_->AddRun(run, std::move(tasks));
  spdlog::info("{} started run {} of plan {}: {} tasks", run.started_by, run.id, run.plan.name(),
               counts.total());
  v1::Run proto = RunProto(run, counts);
  for (v1::Message& warning : timetable.warnings) *proto.add_warnings() = std::move(warning);
  for (v1::Message& warning : WarningsOf(run)) *proto.add_warnings() = std::move(warning);
  return proto;
}

std::vector<v1::Message> RunBook::WarningsOf(const store::RunRecord& run) const {
  std::set<std::string> present;
  for (const Presence& presence : hub_->List()) {
    present.insert(SubjectKey(presence.subject.kind, presence.subject.name));
  }
  std::vector<v1::Message> warnings;
  for (const v1::Vantage& vantage : run.vantages) {
    if (present.count(SubjectKey(v1::SUBJECT_KIND_VANTAGE, vantage.name())) == 0) {
      warnings.push_back(MakeMessage("server.no_agent_vantage", {{"name", vantage.name()}}));
    }
  }
  bool on_servers = false;
  for (const v1::Probe& probe : run.plan.probes()) on_servers |= probe.from().server();
  for (const v1::Server& server : run.servers) {
    if (on_servers && present.count(SubjectKey(v1::SUBJECT_KIND_SERVER, server.name())) == 0) {
      warnings.push_back(MakeMessage("server.no_agent_server", {{"name", server.name()}}));
    }
  }
  return warnings;
}

absl::StatusOr<v1::Run> RunBook::Describe(const store::RunRecord& run) {
  ASSAY_ASSIGN_OR_RETURN(v1::TaskCounts counts, store_->CountTasks(run.id, ""));
  v1::Run proto = RunProto(run, counts);
  if (run.state == v1::RUN_STATE_ACTIVE) {
    for (v1::Message& warning : WarningsOf(run)) *proto.add_warnings() = std::move(warning);
  }
  return proto;
}

absl::StatusOr<v1::ListRunsResponse> RunBook::List(const v1::ListRunsRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<store::RunRecord> runs,
      store_->ListRuns(request.plan(), request.limit() == 0 ? kDefaultRunLimit : request.limit()));
  v1::ListRunsResponse response;
  for (const store::RunRecord& run : runs) {
    ASSAY_ASSIGN_OR_RETURN(*response.add_runs(), Describe(run));
  }
  return response;
}

absl::StatusOr<v1::GetRunResponse> RunBook::Get(const std::string& id) {
  absl::StatusOr<store::RunRecord> run = store_->GetRun(id);
  if (absl::IsNotFound(run.status())) {
    return Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", id}});
  }
  ASSAY_RETURN_IF_ERROR(run.status());
  v1::GetRunResponse response;
  ASSAY_ASSIGN_OR_RETURN(*response.mutable_run(), Describe(*run));
  ASSAY_ASSIGN_OR_RETURN(std::vector<store::TaskRecord> tasks, store_->ListTasks(id));
  for (const store::TaskRecord& task : tasks) *response.add_tasks() = TaskProto(task);
  return response;
}

absl::StatusOr<v1::Run> RunBook::Cancel(const std::string& id, const std::string& person) {
  absl::Status cancelled =
      dispatcher_->CancelRun(id, MakeMessage("server.cancelled_by", {{"person", person}}));
  absl::StatusOr<store::RunRecord> run = store_->GetRun(id);
  if (absl::IsNotFound(run.status())) {
    return Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", id}});
  }
  ASSAY_RETURN_IF_ERROR(run.status());
  ASSAY_RETURN_IF_ERROR(cancelled);
  spdlog::info("{} cancelled run {}", person, id);
  return Describe(*run);
}

absl::StatusOr<v1::Verdict> RunBook::Evaluate(absl::string_view server, absl::string_view run_id) {
  absl::StatusOr<store::RunRecord> run =
      run_id.empty() ? store_->NewestRunOf(server) : store_->GetRun(run_id);
  if (absl::IsNotFound(run.status()) && !run_id.empty()) {
    return Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", std::string(run_id)}});
  }
  if (absl::IsNotFound(run.status())) {
    bool known = store_->GetDocument("server", server).ok();
    return Error(absl::StatusCode::kNotFound,
                 known ? "server.no_run_of_server" : "server.unknown_server",
                 {{"name", std::string(server)}});
  }
  ASSAY_RETURN_IF_ERROR(run.status());

  verdict::VerdictInput input;
  input.run = run->id;
  input.plan = run->plan;
  input.vantages = run->vantages;
  input.criteria = run->criteria;
  for (const v1::Server& candidate : run->servers) {
    if (candidate.name() == server) input.server = candidate;
  }
  if (input.server.name().empty()) {
    return Error(absl::StatusCode::kNotFound, "server.server_not_in_run",
                 {{"name", std::string(server)}, {"run", run->id}});
  }
  ASSAY_ASSIGN_OR_RETURN(input.tasks, store_->CountTasks(run->id, server));
  ASSAY_ASSIGN_OR_RETURN(std::vector<store::TaskRecord> tasks, store_->ListTasks(run->id));
  store::ResultFilter filter;
  filter.run = run->id;
  filter.server = std::string(server);
  filter.limit = kResultPage;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<v1::StoredResult> page, store_->ListResults(filter));
    for (const v1::StoredResult& stored : page) {
      input.observations.push_back(ToObservation(stored, tasks));
    }
    if (page.size() < kResultPage) break;
    filter.before_id = page.back().id();
  }
  ASSAY_ASSIGN_OR_RETURN(v1::Verdict verdict, verdict::Evaluate(input));
  *verdict.mutable_evaluated_at() = ToProto(clock_->Now());
  ASSAY_RETURN_IF_ERROR(store_->PutVerdict(verdict));
  return verdict;
}

void RunBook::EvaluateAll(const std::string& run_id) {
  absl::StatusOr<store::RunRecord> run = store_->GetRun(run_id);
  if (!run.ok()) return;
  for (const v1::Server& server : run->servers) {
    absl::StatusOr<v1::Verdict> verdict = Evaluate(server.name(), run_id);
    if (verdict.ok()) {
      spdlog::info("run {}: {} is {}", run_id, server.name(),
                   v1::ServerDecision_Name(verdict->decision()));
    } else {
      spdlog::error("run {}: cannot evaluate {}: {}", run_id, server.name(),
                    std::string(verdict.status().message()));
    }
  }
}

}  // namespace assay::dispatch
