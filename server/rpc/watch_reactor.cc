#include "server/rpc/watch_reactor.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/rpc/status.h"

namespace assay::rpc {
namespace {

// One write in flight; one message waiting. Destroys itself after OnDone.
class WatchReactor final : public grpc::ServerWriteReactor<v1::RunProgress>,
                           public dispatch::RunWatcher {
 public:
  explicit WatchReactor(const Clock* clock) : clock_(clock) {}

  void KeepAlive(std::shared_ptr<WatchReactor> self) { self_ = std::move(self); }

  // From the dispatcher's thread.
  void OnUpdate(const dispatch::RunView& view) override {
    Push(dispatch::ProgressProto(view, clock_->Now()), view.run.state != v1::RUN_STATE_ACTIVE);
  }

  void Push(v1::RunProgress progress, bool last) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (finishing_) return;
      last_ = last_ || last;
      if (writing_) {
        Merge(std::move(progress));
        return;
      }
      writing_ = true;
      current_ = std::move(progress);
    }
    StartWrite(&current_);
  }

  void End(const absl::Status& status) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (finishing_) return;
      finishing_ = true;
    }
    Finish(ToGrpc(status));
  }

  void OnWriteDone(bool ok) override {
    bool end = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (finishing_) return;
      if (ok && waiting_.has_value()) {
        current_ = *std::move(waiting_);
        waiting_.reset();
      } else {
        writing_ = false;
        end = !ok || last_;
      }
      if (!end && !writing_) return;
    }
    if (end) return End(absl::OkStatus());
    StartWrite(&current_);
  }

  void OnCancel() override {
    bool idle;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      idle = !writing_;
    }
    // A write in flight fails and ends the stream itself.
    if (idle) End(absl::CancelledError());
  }

  void OnDone() override { self_.reset(); }

 private:
  // The newest state, with everything that ended since the last message sent.
  void Merge(v1::RunProgress progress) {
    if (waiting_.has_value()) {
      auto* ended = waiting_->mutable_ended();
      for (v1::Task& task : *progress.mutable_ended()) *ended->Add() = std::move(task);
      progress.mutable_ended()->Swap(ended);
    }
    waiting_ = std::move(progress);
  }

  const Clock* const clock_;
  std::shared_ptr<WatchReactor> self_;
  std::mutex mutex_;
  bool writing_ = false;
  bool finishing_ = false;
  bool last_ = false;        // the newest message is the run's last
  v1::RunProgress current_;  // being written
  std::optional<v1::RunProgress> waiting_;
};

// A run that is not active: its final state, once.
void SendFinal(const std::string& run, dispatch::RunBook* runs, const Clock* clock,
               const std::shared_ptr<WatchReactor>& reactor) {
  absl::StatusOr<v1::GetRunResponse> response = runs->Get(run);
  if (!response.ok()) return reactor->End(response.status());
  v1::RunProgress progress;
  *progress.mutable_run() = response->run();
  *progress.mutable_ended() = response->tasks();
  *progress.mutable_time() = ToProto(clock->Now());
  reactor->Push(std::move(progress), true);
}

}  // namespace

grpc::ServerWriteReactor<v1::RunProgress>* StartWatching(
    const std::string& run, const absl::Status& allowed, dispatch::Dispatcher* dispatcher,
    dispatch::RunBook* runs, dispatch::WorkerPool* pool, const Clock* clock) {
  auto reactor = std::make_shared<WatchReactor>(clock);
  reactor->KeepAlive(reactor);
  if (!allowed.ok()) {
    reactor->End(allowed);
  } else if (!dispatcher->Watch(run, reactor)) {
    bool queued =
        pool->Submit([run, runs, clock, reactor] { SendFinal(run, runs, clock, reactor); });
    if (!queued) {
      reactor->End(Error(absl::StatusCode::kResourceExhausted, "server.overloaded"));
    }
  }
  return reactor.get();
}

}  // namespace assay::rpc
