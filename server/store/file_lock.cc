#include "server/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "server/store/failures.h"

namespace assay::store {
namespace {

// The holder writes its process id, for the message only.
std::string HolderOf(int fd) {
  char text[32];
  ssize_t size = pread(fd, text, sizeof(text), 0);
  std::string holder(text, size > 0 ? static_cast<size_t>(size) : 0);
  absl::StripAsciiWhitespace(&holder);
  return holder.empty() ? "?" : holder;
}

void WriteHolder(int fd) {
  std::string text = absl::StrCat(getpid(), "\n");
  // A disk that is full costs the number in a message, no more.
  if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Acquire(const std::string& path) {
  std::string lock_path = absl::StrCat(path, ".lock");
  int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return SystemFailure(path, errno);
  FileLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemFailure(lock_path, errno);
    return Error(absl::StatusCode::kUnavailable, "store.in_use",
                 {{"path", path}, {"process", HolderOf(fd)}});
  }
  WriteHolder(fd);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace assay::store
