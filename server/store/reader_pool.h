// Connections that only read, a few, each used by one thread at a time.
#ifndef ASSAY_SERVER_STORE_READER_POOL_H_
#define ASSAY_SERVER_STORE_READER_POOL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/store/connection.h"

namespace assay::store {

class ReaderPool {
 public:
  explicit ReaderPool(std::vector<std::unique_ptr<Connection>> connections)
      : free_(std::move(connections)) {}

  // Calls `read(Connection&)`, which returns a StatusOr, inside one transaction: what it reads
  // belongs together. Waits while all connections are in use.
  template <typename Read>
  auto Do(Read read) -> decltype(read(std::declval<Connection&>())) {
    Lease lease(*this);
    ASSAY_RETURN_IF_ERROR(lease.connection->Run("BEGIN"));
    auto result = read(*lease.connection);
    absl::Status ended = lease.connection->Run("ROLLBACK");  // nothing was changed
    if (result.ok() && !ended.ok()) return ended;
    return result;
  }

 private:
  struct Lease {
    explicit Lease(ReaderPool& from) : pool(from), connection(from.Take()) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool.Give(std::move(connection)); }
    ReaderPool& pool;
    std::unique_ptr<Connection> connection;
  };

  std::unique_ptr<Connection> Take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty(); });
    std::unique_ptr<Connection> connection = std::move(free_.back());
    free_.pop_back();
    return connection;
  }

  void Give(std::unique_ptr<Connection> connection) {
    {
      std::lock_guard lock(mutex_);
      free_.push_back(std::move(connection));
    }
    returned_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> free_;  // guarded by mutex_
};

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_READER_POOL_H_
