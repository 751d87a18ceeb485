// Files, durably: what is written here is there after a crash, or the old content is.
#ifndef ASSAY_COMMON_FILES_FILES_H_
#define ASSAY_COMMON_FILES_FILES_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace assay::files {

// NOT_FOUND, PERMISSION_DENIED, or INTERNAL with the system's words; RESOURCE_EXHAUSTED above
// `max_bytes`.
absl::StatusOr<std::string> Read(const std::string& path, size_t max_bytes = 64 << 20);

// Writes a temporary file beside `path`, fsyncs it, renames it over `path` and fsyncs the
// directory.
absl::Status WriteAtomically(const std::string& path, absl::string_view content, mode_t mode);

// Creates the directory and its parents with `mode`. OK if it is there.
absl::Status MakeDirectories(const std::string& path, mode_t mode);

// Names (not paths) in a directory, sorted, without "." and "..".
absl::StatusOr<std::vector<std::string>> List(const std::string& directory);

// OK if it was not there.
absl::Status Remove(const std::string& path);

absl::Status FsyncDirectory(const std::string& directory);

// An exclusive lock that says "another process uses this directory"; held until destroyed, released
// by the kernel when the process dies.
class DirectoryLock {
 public:
  // UNAVAILABLE where another process holds it.
  static absl::StatusOr<DirectoryLock> Acquire(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace assay::files

#endif  // ASSAY_COMMON_FILES_FILES_H_
