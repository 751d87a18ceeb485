// A few threads for work that may block: store calls, derivation, evaluation. gRPC's own threads
// never do any of it.
#ifndef ASSAY_SERVER_DISPATCH_WORKER_POOL_H_
#define ASSAY_SERVER_DISPATCH_WORKER_POOL_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace assay::dispatch {

// Thread-safe.
class WorkerPool {
 public:
  // At most `max_queued` pieces of work wait.
  WorkerPool(int threads, size_t max_queued);
  // Finishes what is queued.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the queue is full or the pool stops: the caller answers RESOURCE_EXHAUSTED or tries
  // again.
  bool Submit(std::function<void()> work);

 private:
  void Run();

  const size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_WORKER_POOL_H_
