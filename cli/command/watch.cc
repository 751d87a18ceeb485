#include "cli/command/watch.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "cli/render/run_view.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"

namespace assay::cli {
namespace {

constexpr absl::Duration kFirstRetry = absl::Milliseconds(500);
constexpr absl::Duration kLastRetry = absl::Seconds(10);
constexpr absl::Duration kStep = absl::Milliseconds(200);

class Watcher {
 public:
  Watcher(Session& session, Coordinator& coordinator, const std::string& run,
          const WatchOptions& options)
      : session_(session),
        coordinator_(coordinator),
        id_(run),
        options_(options),
        live_(session.world.terminal.interactive &&
              session.view.format == term::OutputFormat::kTable),
        area_(session.world.out_fd, session.world.terminal) {}

  absl::StatusOr<v1::Run> Watch() {
    if (!live_ && options_.report) session_.Print(render::EndedTaskHeading(session_.view));
    absl::Duration retry = kFirstRetry;
    bool connected_once = false;
    while (!view_.over() || !connected_once) {
      absl::Status status = Follow();
      if (!stop_.ok()) return stop_;
      connected_once = connected_once || !view_.run().id().empty();
      if (connected_once && view_.over()) break;
      // Only a lost connection is worth another try, and only once there has been one.
      if (!status.ok() && (!connected_once || !absl::IsUnavailable(status))) return status;
      if (!status.ok()) {
        area_.Clear();
        session_.Tell("cli.watch_reconnecting",
                      {{"reason", Render(session_.view.language, status)}});
        ASSAY_RETURN_IF_ERROR(Pause(retry));
        retry = std::min(2 * retry, kLastRetry);
      } else {
        retry = kFirstRetry;  // the stream ended but the run did not: a coordinator that stops
        ASSAY_RETURN_IF_ERROR(Pause(retry));
      }
    }
    area_.Clear();
    if (options_.report) session_.Print(render::RunEnded(view_.run(), session_.view));
    return view_.run();
  }

 private:
  absl::Status Follow() {
    ASSAY_ASSIGN_OR_RETURN(v1::GetRunResponse snapshot, coordinator_.GetRun(id_));
    // What ended before a watch on a terminal began is in the bars; a pipe gets every task.
    const bool first = view_.run().id().empty();
    Report(view_.Reset(snapshot), /*show=*/!(first && live_));
    Draw();
    if (view_.over()) return absl::OkStatus();
    return coordinator_.WatchRun(
        id_,
        [this](const v1::RunProgress& progress) {
          ahead_ = FromProto(progress.time()) - session_.world.clock->Now();
          Report(view_.Apply(progress), /*show=*/true);
          Draw();
          return true;
        },
        [this] {
          stop_ = options_.keep_on();
          if (stop_.ok()) Draw();
          return stop_.ok();
        });
  }

  void Report(const std::vector<v1::Task>& ended, bool show) {
    if (!show || !options_.report) return;
    for (const v1::Task& task : ended) {
      v1::StoredResult result;
      if (task.result_id() != 0) {
        // Figures are a courtesy: a task is reported without them rather than not at all.
        absl::StatusOr<v1::StoredResult> stored = coordinator_.GetResult(task.result_id());
        if (stored.ok()) result = *std::move(stored);
      }
      std::string line = render::EndedTask(task, result, Now(), session_.view);
      if (live_) {
        if (!line.empty() && line.back() == '\n') line.pop_back();
        view_.Remember(std::move(line));
      } else {
        session_.Print(line);
      }
    }
  }

  void Draw() {
    if (live_) area_.Show(view_.Block(Now(), session_.view));
  }

  absl::Status Pause(absl::Duration duration) {
    for (absl::Time end = absl::Now() + duration; absl::Now() < end;) {
      ASSAY_RETURN_IF_ERROR(options_.keep_on());
      absl::SleepFor(std::min(kStep, duration));
    }
    return absl::OkStatus();
  }

  // By the coordinator's clock: its times are what is counted down to.
  absl::Time Now() const { return session_.world.clock->Now() + ahead_; }

  Session& session_;
  Coordinator& coordinator_;
  const std::string id_;
  const WatchOptions& options_;
  const bool live_;
  term::LiveArea area_;
  render::RunView view_;
  absl::Duration ahead_;
  absl::Status stop_;
};

}  // namespace

absl::StatusOr<v1::Run> WatchRun(Session& session, Coordinator& coordinator, const std::string& run,
                                 const WatchOptions& options) {
  return Watcher(session, coordinator, run, options).Watch();
}

}  // namespace assay::cli
