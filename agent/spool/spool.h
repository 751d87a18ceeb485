// Results that the coordinator has not acknowledged yet.
#ifndef ASSAY_AGENT_SPOOL_SPOOL_H_
#define ASSAY_AGENT_SPOOL_SPOOL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/spool/task_key.h"
#include "assay/v1/agent.pb.h"

namespace assay::spool {

// Not thread-safe.
class Spool {
 public:
  virtual ~Spool() = default;

  // Keeps a result whatever happens: on disk, or in memory where the disk refuses. OK: it survives
  // the death of the process and of the host. Otherwise the error says why the disk refused, and
  // RetryUnwritten() tries again. Replaces an earlier result of the same attempt. The byte limit
  // does not count here: what was measured is kept.
  virtual absl::Status Put(const v1::TaskResult& result) = 0;
  // For an answer that holds no measurement: kept only if that is possible on disk and within the
  // limit, RESOURCE_EXHAUSTED or the disk's error otherwise.
  virtual absl::Status PutIfRoom(const v1::TaskResult& result) = 0;

  // NOT_FOUND; DATA_LOSS where the file has been damaged since: it is set aside and forgotten.
  virtual absl::StatusOr<v1::TaskResult> Get(const TaskKey& key) = 0;
  // OK where there is none. The result is forgotten even if its file cannot be removed.
  virtual absl::Status Remove(const TaskKey& key) = 0;
  virtual bool Has(const TaskKey& key) const = 0;
  virtual std::vector<TaskKey> List() const = 0;  // ascending

  // Whether measurements can be taken on: the limit is not reached and everything is on disk.
  virtual bool HasRoom() const = 0;
  // OK where nothing is left in memory only.
  virtual absl::Status RetryUnwritten() = 0;
};

struct SpoolOptions {
  // Of all files together. Probes that run when it is reached still have their results kept.
  uint64_t max_bytes = 1 << 30;
  // Beyond the limit, for answers that hold no measurement.
  uint64_t reserve_bytes = 1 << 20;
};

// In `directory`, which is created. One file a result (file_format.h), written beside its place,
// fsynced and renamed. What a crash left behind is put in order: a whole file gets its name, a
// damaged one is moved to `set_aside` as NAME.corrupt, and logged.
absl::StatusOr<std::unique_ptr<Spool>> OpenSpool(const std::string& directory,
                                                 const std::string& set_aside,
                                                 const SpoolOptions& options = {});

}  // namespace assay::spool

#endif  // ASSAY_AGENT_SPOOL_SPOOL_H_
