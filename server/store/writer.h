// The one thread that changes the database.
//
// It takes everything that is queued, runs each request in its own SAVEPOINT inside one BEGIN
// IMMEDIATE, commits once, and only then tells the requests how they ended. So a burst of requests
// costs one fsync, a request that fails undoes itself alone, and nobody is told "stored" before it
// is on the disk. If the transaction as a whole cannot be committed (disk full, I/O error, locked),
// every request of the batch fails with that reason and nothing of it is stored; the next batch
// starts afresh.
//
// The queue is bounded for Submit(): beyond the limits it refuses at once, in the caller's thread,
// and the caller slows its source down. Run() blocks its caller, who can therefore queue only one
// request at a time; it is never refused.
#ifndef ASSAY_SERVER_STORE_WRITER_H_
#define ASSAY_SERVER_STORE_WRITER_H_

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/store/connection.h"

namespace assay::store {

class Writer {
 public:
  // Changes the database by the given connection; an error undoes what it changed.
  using Work = absl::AnyInvocable<absl::Status(Connection&)>;
  using Done = absl::AnyInvocable<void(absl::Status)>;
  struct Limits {
    size_t requests = 0;
    size_t bytes = 0;
    // Pages of write-ahead log after which it is copied into the database.
    int checkpoint_frames = 0;
  };

  Writer(std::unique_ptr<Connection> connection, Limits limits);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // Commits what is queued, answers it, and closes the connection.
  ~Writer();

  // Returns after the commit. INTERNAL when called from the writer's own thread, which would wait
  // for itself.
  absl::Status Run(Work work);
  // `done` comes from the writer's thread after the commit, or at once with RESOURCE_EXHAUSTED.
  // `bytes`: what the request keeps in memory.
  void Submit(size_t bytes, Work work, Done done);

 private:
  struct Request {
    size_t bytes = 0;
    Work work;
    Done done;
  };

  void Loop();
  void Process(std::vector<Request>& batch);
  // Runs the batch up to its commit. Each request's own status goes to `statuses`; the returned one
  // is the fate of all.
  absl::Status Commit(std::vector<Request>& batch, std::vector<absl::Status>& statuses);
  absl::Status RunInSavepoint(Request& request, absl::Status& status);
  void Abandon();
  void Checkpoint();
  static int OnWal(void* self, sqlite3* handle, const char* name, int frames);

  const Limits limits_;
  std::unique_ptr<Connection> connection_;
  int wal_frames_ = 0;  // writer's thread only

  // Of the standard library, which the thread sanitizer sees into; it guards the rest.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Request> queue_;
  size_t queued_bytes_ = 0;
  bool closing_ = false;

  std::thread thread_;  // last: it uses everything above
};

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_WRITER_H_
