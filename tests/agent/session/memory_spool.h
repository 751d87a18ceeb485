// A spool whose memory survives the death of the agent, for simulations.
#ifndef ASSAY_TESTS_AGENT_SESSION_MEMORY_SPOOL_H_
#define ASSAY_TESTS_AGENT_SESSION_MEMORY_SPOOL_H_

#include <map>
#include <vector>

#include "agent/spool/spool.h"

namespace assay::testing {

class MemorySpool : public spool::Spool {
 public:
  absl::Status Put(const v1::TaskResult& result) override {
    results_[spool::TaskKey::Of(result.ref())] = result;
    return disk_full ? absl::ResourceExhaustedError("disk full") : absl::OkStatus();
  }
  absl::Status PutIfRoom(const v1::TaskResult& result) override {
    if (reserve_full) return absl::ResourceExhaustedError("spool full");
    return Put(result);
  }
  absl::StatusOr<v1::TaskResult> Get(const spool::TaskKey& key) override {
    auto found = results_.find(key);
    if (found == results_.end()) return absl::NotFoundError("not spooled");
    return found->second;
  }
  absl::Status Remove(const spool::TaskKey& key) override {
    results_.erase(key);
    return absl::OkStatus();
  }
  bool Has(const spool::TaskKey& key) const override { return results_.count(key) > 0; }
  std::vector<spool::TaskKey> List() const override {
    std::vector<spool::TaskKey> keys;
    for (const auto& [key, result] : results_) keys.push_back(key);
    return keys;
  }
  bool HasRoom() const override { return room && !disk_full; }
  absl::Status RetryUnwritten() override {
    ++retries;
    return disk_full ? absl::ResourceExhaustedError("disk full") : absl::OkStatus();
  }

  bool room = true;
  bool disk_full = false;
  bool reserve_full = false;
  int retries = 0;

 private:
  std::map<spool::TaskKey, v1::TaskResult> results_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_SESSION_MEMORY_SPOOL_H_
