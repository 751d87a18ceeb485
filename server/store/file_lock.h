// "This database is in use": an exclusive flock on a file beside it.
//
// Why not SQLite's own locks: locking_mode=EXCLUSIVE shuts out our own readers together with other
// processes, and without it two coordinators would share the file happily. Why not a lock on the
// database itself: closing any descriptor of it would drop SQLite's own locks (POSIX).
#ifndef ASSAY_SERVER_STORE_FILE_LOCK_H_
#define ASSAY_SERVER_STORE_FILE_LOCK_H_

#include <string>

#include "absl/status/statusor.h"

namespace assay::store {

// Held until destroyed; the kernel lets go when the process dies. The file stays, because removing
// it would let two processes lock two files of that name.
class FileLock {
 public:
  // Locks PATH.lock. UNAVAILABLE where somebody holds it or it cannot be written.
  static absl::StatusOr<FileLock> Acquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_FILE_LOCK_H_
