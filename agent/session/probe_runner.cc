#include "agent/session/probe_runner.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "agent/session/probe_fields.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"

namespace assay::session {
namespace {

v1::Result Broken(const std::string& detail) {
  v1::Result result;
  result.set_outcome(v1::OUTCOME_FAILED);
  *result.mutable_reason() = MakeMessage("agent.broken", {{"detail", detail}});
  return result;
}

v1::Result RunProbe(const ProbeSet& probes, const agent::ProbeRequest& request,
                    const agent::ProbeControl& control) {
  std::string kind = KindOf(request.probe);
  auto probe = std::find_if(probes.begin(), probes.end(),
                            [&](const auto& candidate) { return candidate->kind() == kind; });
  if (probe == probes.end()) return Broken("no such probe");
  try {
    return (*probe)->Run(request, control);
  } catch (const std::exception& exception) {
    return Broken(exception.what());
  }
}

}  // namespace

std::vector<v1::Capability> CapabilitiesOf(const ProbeSet& probes, const guard::Guard& guard) {
  std::vector<v1::Capability> capabilities;
  for (const auto& probe : probes) {
    v1::Capability capability = probe->Supported();
    capability.set_probe(std::string(probe->kind()));
    if (absl::Status allowed = guard.CheckProbe(probe->kind()); !allowed.ok()) {
      capability.set_supported(false);
      if (std::optional<v1::Message> message = MessageOf(allowed); message.has_value()) {
        *capability.mutable_reason() = *message;
      }
    }
    capabilities.push_back(std::move(capability));
  }
  return capabilities;
}

ProbeRunner::ProbeRunner(std::shared_ptr<const ProbeSet> probes,
                         std::shared_ptr<const guard::Guard> guard,
                         std::shared_ptr<Mailbox> mailbox, Receiver receiver)
    : probes_(std::move(probes)),
      guard_(std::move(guard)),
      mailbox_(std::move(mailbox)),
      receiver_(std::move(receiver)),
      alive_(std::make_shared<ProbeRunner*>(this)) {}

ProbeRunner::~ProbeRunner() {
  for (auto& [key, running] : running_) {
    running.job->cancelled = true;
    running.thread.detach();
  }
}

void ProbeRunner::Start(const v1::Assignment& assignment) {
  spool::TaskKey key = spool::TaskKey::Of(assignment.ref());
  auto job = std::make_shared<Job>();
  std::weak_ptr<ProbeRunner*> alive = alive_;
  auto work = [job, key, assignment, alive, probes = probes_, guard = guard_, mailbox = mailbox_] {
    agent::ProbeRequest request;
    request.probe = assignment.probe();
    request.guard = guard.get();
    request.server_addresses.assign(assignment.server_addresses().begin(),
                                    assignment.server_addresses().end());
    request.time_limit = FromProto(assignment.time_limit());
    agent::ProbeControl control;
    control.cancelled = &job->cancelled;
    control.progress = [&](double fraction) {
      mailbox->Post([alive, key, fraction] {
        if (auto runner = alive.lock()) (*runner)->receiver_.progress(key, fraction);
      });
    };
    auto result = std::make_shared<v1::Result>(RunProbe(*probes, request, control));
    mailbox->Post([alive, key, result] {
      if (auto runner = alive.lock()) (*runner)->Done(key, std::move(*result));
    });
  };
  Running& running = running_[key];
  running.job = std::move(job);
  try {
    running.thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {  // no more threads
    running_.erase(key);
    v1::Result broken = Broken(error.what());
    mailbox_->Post([alive, key, broken] {
      if (auto runner = alive.lock()) (*runner)->receiver_.done(key, broken);
    });
  }
}

void ProbeRunner::Cancel(const spool::TaskKey& key) {
  auto found = running_.find(key);
  if (found != running_.end()) found->second.job->cancelled = true;
}

void ProbeRunner::Done(const spool::TaskKey& key, v1::Result result) {
  auto found = running_.find(key);
  found->second.thread.join();
  running_.erase(found);
  receiver_.done(key, std::move(result));
}

}  // namespace assay::session
