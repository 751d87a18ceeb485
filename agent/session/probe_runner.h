// Probes in threads of their own.
#ifndef ASSAY_AGENT_SESSION_PROBE_RUNNER_H_
#define ASSAY_AGENT_SESSION_PROBE_RUNNER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "agent/guard/guard.h"
#include "agent/probe/probe.h"
#include "agent/session/mailbox.h"
#include "agent/spool/task_key.h"
#include "assay/v1/agent.pb.h"

namespace assay::session {

using ProbeSet = std::vector<std::unique_ptr<agent::Probe>>;

// What each probe says of this host, where the guard does not refuse it altogether.
std::vector<v1::Capability> CapabilitiesOf(const ProbeSet& probes, const guard::Guard& guard);

// How many run at a time is the caller's business. Not thread-safe.
class ProbeRunner {
 public:
  // Run in the receiver's thread, from its mailbox.
  struct Receiver {
    std::function<void(const spool::TaskKey&, v1::Result)> done;
    std::function<void(const spool::TaskKey&, double)> progress;
  };

  ProbeRunner(std::shared_ptr<const ProbeSet> probes, std::shared_ptr<const guard::Guard> guard,
              std::shared_ptr<Mailbox> mailbox, Receiver receiver);
  // Threads that have not ended are left behind: they touch nothing of this object, but the process
  // must not go through its static destructors then.
  ~ProbeRunner();
  ProbeRunner(const ProbeRunner&) = delete;
  ProbeRunner& operator=(const ProbeRunner&) = delete;

  // `done` follows, always.
  void Start(const v1::Assignment& assignment);
  void Cancel(const spool::TaskKey& key);

 private:
  struct Job {
    std::atomic<bool> cancelled = false;
  };
  struct Running {
    std::shared_ptr<Job> job;
    std::thread thread;
  };
  void Done(const spool::TaskKey& key, v1::Result result);

  const std::shared_ptr<const ProbeSet> probes_;
  const std::shared_ptr<const guard::Guard> guard_;
  const std::shared_ptr<Mailbox> mailbox_;
  const Receiver receiver_;
  // Expires with this object: what threads post after that does nothing.
  const std::shared_ptr<ProbeRunner*> alive_;
  std::map<spool::TaskKey, Running> running_;
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_PROBE_RUNNER_H_
