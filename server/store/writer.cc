#include "server/store/writer.h"

#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"

namespace assay::store {
namespace {

// A log this many times longer than wanted means that readers overlap all the time: wait for them.
constexpr int kPatience = 16;

}  // namespace

Writer::Writer(std::unique_ptr<Connection> connection, Limits limits)
    : limits_(limits), connection_(std::move(connection)) {
  // Replaces SQLite's automatic checkpoint, which would run before anybody is told of the commit.
  sqlite3_wal_hook(connection_->handle(), &Writer::OnWal, this);
  thread_ = std::thread([this] { Loop(); });
}

Writer::~Writer() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

absl::Status Writer::Run(Work work) {
  if (std::this_thread::get_id() == thread_.get_id()) {
    return absl::InternalError("a callback of the store called a function of it that blocks");
  }
  // The promise lives in the request, so the writer's thread is the last to touch it.
  std::promise<absl::Status> promise;
  std::future<absl::Status> ended = promise.get_future();
  auto done = [promise = std::move(promise)](absl::Status status) mutable {
    promise.set_value(std::move(status));
  };
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({0, std::move(work), std::move(done)});
  }
  wake_.notify_one();
  return ended.get();
}

void Writer::Submit(size_t bytes, Work work, Done done) {
  {
    std::lock_guard lock(mutex_);
    // One that is larger than the limit still goes through when nothing else waits.
    bool fits = queue_.size() < limits_.requests &&
                (queued_bytes_ == 0 || queued_bytes_ + bytes <= limits_.bytes);
    if (fits) {
      queued_bytes_ += bytes;
      queue_.push_back({bytes, std::move(work), std::move(done)});
      wake_.notify_one();
      return;
    }
  }
  done(Error(absl::StatusCode::kResourceExhausted, "store.queue_full"));
}

void Writer::Loop() {
  std::vector<Request> batch;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) break;
      batch.swap(queue_);
    }
    Process(batch);
    batch.clear();
    Checkpoint();
  }
}

void Writer::Process(std::vector<Request>& batch) {
  size_t bytes = 0;
  for (const Request& request : batch) bytes += request.bytes;
  std::vector<absl::Status> statuses(batch.size());
  absl::Status fate = Commit(batch, statuses);
  {
    // Only now: what is being written takes memory too.
    std::lock_guard lock(mutex_);
    queued_bytes_ -= bytes;
  }
  // Where the batch was lost, what a request learned in it (such as "there already") may be untrue.
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].done(fate.ok() ? std::move(statuses[i]) : fate);
  }
}

absl::Status Writer::Commit(std::vector<Request>& batch, std::vector<absl::Status>& statuses) {
  absl::Status fate = connection_->Run("BEGIN IMMEDIATE");
  for (size_t i = 0; fate.ok() && i < batch.size(); ++i) {
    fate = RunInSavepoint(batch[i], statuses[i]);
  }
  if (fate.ok()) fate = connection_->Run("COMMIT");
  if (!fate.ok()) Abandon();
  return fate;
}

absl::Status Writer::RunInSavepoint(Request& request, absl::Status& status) {
  ASSAY_RETURN_IF_ERROR(connection_->Run("SAVEPOINT request"));
  status = request.work(*connection_);
  // A full disk or an I/O error may have made SQLite undo the whole transaction.
  if (!connection_->in_transaction()) {
    return status.ok() ? absl::InternalError("a request ended the transaction") : status;
  }
  if (!status.ok()) ASSAY_RETURN_IF_ERROR(connection_->Run("ROLLBACK TO request"));
  return connection_->Run("RELEASE request");
}

// After a COMMIT whose fsync failed, the log may hold the transaction complete with its commit
// mark: this process ignores it, but the next one would find and replay it, though its callers were
// told that nothing was stored. Any later commit overwrites it, so one that changes nothing is made
// at once. It needs no new space, since it goes where the lost one stood.
void Writer::Abandon() {
  if (connection_->in_transaction()) connection_->Run("ROLLBACK").IgnoreError();
  absl::StatusOr<int64_t> version = connection_->QueryInt("PRAGMA user_version");
  if (!version.ok() || !connection_->Run("BEGIN IMMEDIATE").ok()) return;
  absl::Status sealed = connection_->Script(absl::StrCat("PRAGMA user_version = ", *version));
  if (sealed.ok()) sealed = connection_->Run("COMMIT");
  if (connection_->in_transaction()) connection_->Run("ROLLBACK").IgnoreError();
}

void Writer::Checkpoint() {
  if (wal_frames_ < limits_.checkpoint_frames) return;
  int mode = wal_frames_ / kPatience < limits_.checkpoint_frames ? SQLITE_CHECKPOINT_PASSIVE
                                                                 : SQLITE_CHECKPOINT_RESTART;
  // Nothing is lost when it fails (disk full): the log goes on growing, and this is tried again
  // after the next commit.
  sqlite3_wal_checkpoint_v2(connection_->handle(), "main", mode, nullptr, nullptr);
}

int Writer::OnWal(void* self, sqlite3*, const char*, int frames) {
  static_cast<Writer*>(self)->wal_frames_ = frames;
  return SQLITE_OK;
}

}  // namespace assay::store
