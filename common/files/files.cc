#include "common/files/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::files {
namespace {

absl::Status SystemError(absl::string_view id, const std::string& path, int error) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  if (error == ENOENT) code = absl::StatusCode::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) {
    code = absl::StatusCode::kPermissionDenied;
  }
  if (error == ENOSPC || error == EDQUOT) code = absl::StatusCode::kResourceExhausted;
  return Error(code, id, {{"path", path}, {"detail", std::strerror(error)}});
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Writes all of `content` and makes it durable; 0 or errno.
int WriteAll(int fd, absl::string_view content) {
  while (!content.empty()) {
    ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

absl::StatusOr<std::string> Read(const std::string& path, size_t max_bytes) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("system.open_failed", path, errno);
  std::string content;
  char buffer[1 << 16];
  int error = 0;
  while (true) {
    ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > max_bytes) break;
  }
  close(fd);
  if (error != 0) return SystemError("system.read_failed", path, error);
  if (content.size() > max_bytes) {
    return Error(absl::StatusCode::kResourceExhausted, "system.file_too_large",
                 {{"path", path}, {"limit_bytes", absl::StrCat(max_bytes)}});
  }
  return content;
}

absl::Status WriteAtomically(const std::string& path, absl::string_view content, mode_t mode) {
  std::string temporary = absl::StrCat(path, ".XXXXXX");
  int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return SystemError("system.write_failed", path, errno);
  int error = fchmod(fd, mode) == 0 ? WriteAll(fd, content) : errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return SystemError("system.write_failed", path, error);
  }
  return FsyncDirectory(DirectoryOf(path));
}

absl::Status MakeDirectories(const std::string& path, mode_t mode) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string prefix = path.substr(0, slash);
    if (mkdir(prefix.c_str(), mode) != 0 && errno != EEXIST) {
      return SystemError("system.write_failed", prefix, errno);
    }
    if (slash == std::string::npos) break;
  }
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return SystemError("system.open_failed", path, errno);
  if (!S_ISDIR(info.st_mode)) return SystemError("system.open_failed", path, ENOTDIR);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> List(const std::string& directory) {
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return SystemError("system.open_failed", directory, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    absl::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status Remove(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return SystemError("system.write_failed", path, errno);
}

absl::Status FsyncDirectory(const std::string& directory) {
  int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError("system.open_failed", directory, errno);
  int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error == 0 ? absl::OkStatus() : SystemError("system.write_failed", directory, error);
}

absl::StatusOr<DirectoryLock> DirectoryLock::Acquire(const std::string& directory) {
  std::string path = absl::StrCat(directory, "/lock");
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError("system.write_failed", path, errno);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    int error = errno;
    close(fd);
    if (error != EWOULDBLOCK) return SystemError("system.write_failed", path, error);
    return Error(absl::StatusCode::kUnavailable, "system.directory_in_use", {{"path", directory}});
  }
  return DirectoryLock(fd);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace assay::files
