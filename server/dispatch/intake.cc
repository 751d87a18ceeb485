#include "server/dispatch/intake.h"

#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "common/base/message.h"
#include "common/hash/sha256.h"
#include "core/evidence/derive.h"

namespace assay::dispatch {
namespace {

// Metrics of the evidence. Evidence that cannot be read turns the result into a failed one: it is
// kept as it came, and decides nothing.
std::vector<v1::Metric> Derive(v1::Result& result) {
  if (result.evidence_zstd().empty()) return {};
  absl::StatusOr<v1::Evidence> evidence = evidence::Unpack(result.evidence_zstd());
  absl::StatusOr<std::vector<v1::Metric>> metrics =
      evidence.ok() ? evidence::DeriveMetrics(*evidence)
                    : absl::StatusOr<std::vector<v1::Metric>>(evidence.status());
  if (metrics.ok()) return *std::move(metrics);
  result.set_outcome(v1::OUTCOME_FAILED);
  *result.mutable_reason() = MakeMessage("server.evidence_unreadable",
                                         {{"detail", std::string(metrics.status().message())}});
  return {};
}

}  // namespace

void Intake::Take(const std::string& agent_id, const store::Subject& subject, v1::TaskResult result,
                  std::function<void(absl::Status)> done) {
  std::string owner = dispatcher_->SubjectOf(result.ref());
  if (owner.empty()) {
    // Its run is over: either this is a copy, or the task ended without it.
    spdlog::info("agent {} sent a result for task {}/{}, which is not active", agent_id,
                 result.ref().run(), result.ref().task());
    return done(absl::OkStatus());
  }
  if (owner != SubjectKey(subject.kind, subject.name)) {
    spdlog::warn("agent {} of {} sent a result for a task of {}: dropped", agent_id, subject.name,
                 owner);
    return done(absl::OkStatus());
  }
  auto shared_done = std::make_shared<std::function<void(absl::Status)>>(std::move(done));
  bool queued = pool_->Submit([this, agent_id, result = std::move(result), shared_done]() mutable {
    Store(agent_id, std::move(result), *shared_done);
  });
  if (!queued) (*shared_done)(Error(absl::StatusCode::kResourceExhausted, "server.overloaded"));
}

void Intake::Store(const std::string& agent_id, v1::TaskResult task_result,
                   std::function<void(absl::Status)> done) {
  store::NewResult stored;
  stored.ref = task_result.ref();
  stored.agent_id = agent_id;
  stored.received_at = clock_->Now();
  stored.metrics = Derive(*task_result.mutable_result());
  stored.result = std::move(*task_result.mutable_result());
  stored.evidence_sha256 = Sha256Hex(stored.result.evidence_zstd());

  v1::TaskState state =
      stored.result.outcome() == v1::OUTCOME_OK ? v1::TASK_STATE_DONE : v1::TASK_STATE_FAILED;
  store_->AppendResultAsync(
      stored, [this, ref = stored.ref, state, reason = stored.result.reason(),
               done = std::move(done)](absl::StatusOr<store::AppendResult> appended) {
        if (!appended.ok()) {
          spdlog::error("cannot store the result of task {}/{}: {}", ref.run(), ref.task(),
                        std::string(appended.status().message()));
          return done(appended.status());
        }
        if (appended->outcome == store::AppendOutcome::kStored) {
          dispatcher_->ResultStored(ref, state, reason, appended->result_id);
        }
        done(absl::OkStatus());
      });
}

}  // namespace assay::dispatch
