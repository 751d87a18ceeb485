// Invariants: an entry of `entries_` is in memory (its `content` is set) or on disk under its
// FileName(), never neither. `bytes_` is the sum of their sizes, `unwritten_` the number in memory.
// A file is removed only by Remove(), which is called after an acknowledgement or a cancellation.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/spool/file_format.h"
#include "agent/spool/spool.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "spdlog/spdlog.h"

namespace assay::spool {
namespace {

constexpr size_t kLargestFile = 128 << 20;

absl::Status WriteFailed(const std::string& path, int error) {
  return Error(absl::StatusCode::kInternal, "system.write_failed",
               {{"path", path}, {"detail", std::strerror(error)}});
}

class DiskSpool : public Spool {
 public:
  DiskSpool(std::string directory, std::string set_aside, const SpoolOptions& options)
      : directory_(std::move(directory)), set_aside_(std::move(set_aside)), options_(options) {}

  absl::Status Load();

  absl::Status Put(const v1::TaskResult& result) override;
  absl::Status PutIfRoom(const v1::TaskResult& result) override;
  absl::StatusOr<v1::TaskResult> Get(const TaskKey& key) override;
  absl::Status Remove(const TaskKey& key) override;
  bool Has(const TaskKey& key) const override { return entries_.count(key) > 0; }
  std::vector<TaskKey> List() const override;
  bool HasRoom() const override { return bytes_ < options_.max_bytes && unwritten_ == 0; }
  absl::Status RetryUnwritten() override;

 private:
  struct Entry {
    uint64_t bytes = 0;
    std::optional<std::string> content;  // where the disk has refused it
  };

  std::string PathOf(absl::string_view name) const { return absl::StrCat(directory_, "/", name); }
  absl::Status Write(const TaskKey& key, const std::string& content) {
    return files::WriteAtomically(PathOf(FileName(key)), content, 0600);
  }
  void Insert(const TaskKey& key, Entry entry);
  void Forget(const TaskKey& key);
  absl::Status LoadFile(const std::string& name);
  absl::Status Promote(const std::string& name, const std::string& final_name);
  void SetAside(const std::string& name, const absl::Status& why);
  absl::StatusOr<std::string> MoveAside(const std::string& name);

  const std::string directory_;
  const std::string set_aside_;
  const SpoolOptions options_;
  std::map<TaskKey, Entry> entries_;
  uint64_t bytes_ = 0;
  size_t unwritten_ = 0;
};

void DiskSpool::Insert(const TaskKey& key, Entry entry) {
  Forget(key);
  bytes_ += entry.bytes;
  if (entry.content.has_value()) ++unwritten_;
  entries_.emplace(key, std::move(entry));
}

void DiskSpool::Forget(const TaskKey& key) {
  auto found = entries_.find(key);
  if (found == entries_.end()) return;
  bytes_ -= found->second.bytes;
  if (found->second.content.has_value()) --unwritten_;
  entries_.erase(found);
}

absl::Status DiskSpool::Load() {
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(directory_, 0700));
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::string> names, files::List(directory_));
  for (const std::string& name : names) ASSAY_RETURN_IF_ERROR(LoadFile(name));
  return absl::OkStatus();
}

absl::Status DiskSpool::LoadFile(const std::string& name) {
  // A write that was cut off may have been whole already: then only its rename is missing.
  std::string final_name = IsResultFile(name) ? name : FinalNameOf(name);
  if (final_name.empty()) return absl::OkStatus();  // somebody else's
  absl::StatusOr<std::string> content = files::Read(PathOf(name), kLargestFile);
  // An unreadable directory or a failing disk is not a damaged result: better not to start.
  if (!content.ok() && !absl::IsResourceExhausted(content.status())) return content.status();
  absl::StatusOr<v1::TaskResult> result =
      content.ok() ? DecodeFile(*content, final_name) : content.status();
  if (!result.ok()) {
    // Killed before the first byte: nothing to keep.
    if (name != final_name && content.ok() && content->empty()) {
      return files::Remove(PathOf(name));
    }
    SetAside(name, result.status());
    return absl::OkStatus();
  }
  TaskKey key = TaskKey::Of(result->ref());
  Entry entry{content->size(), std::nullopt};
  if (name != final_name) {
    if (Has(key)) return files::Remove(PathOf(name));
    absl::Status renamed = Promote(name, final_name);
    if (!renamed.ok()) {
      spdlog::warn("{}; trying again", std::string(renamed.message()));
      entry.content = *std::move(content);
    }
  }
  Insert(key, std::move(entry));
  return absl::OkStatus();
}

absl::Status DiskSpool::Promote(const std::string& name, const std::string& final_name) {
  int fd = open(PathOf(name).c_str(), O_RDWR | O_CLOEXEC);
  bool done =
      fd >= 0 && fsync(fd) == 0 && rename(PathOf(name).c_str(), PathOf(final_name).c_str()) == 0;
  int error = errno;
  if (fd >= 0) close(fd);
  if (!done) return WriteFailed(PathOf(final_name), error);
  return files::FsyncDirectory(directory_);
}

void DiskSpool::SetAside(const std::string& name, const absl::Status& why) {
  absl::StatusOr<std::string> kept = MoveAside(name);
  if (kept.ok()) {
    spdlog::error("{}; it is kept as {}", std::string(why.message()), *kept);
  } else {
    spdlog::error("{}; it stays where it is: {}", std::string(why.message()),
                  std::string(kept.status().message()));
  }
}

absl::StatusOr<std::string> DiskSpool::MoveAside(const std::string& name) {
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(set_aside_, 0700));
  std::string target = absl::StrCat(set_aside_, "/", name, ".corrupt");
  struct stat info;
  for (int i = 1; lstat(target.c_str(), &info) == 0; ++i) {
    target = absl::StrCat(set_aside_, "/", name, ".", i, ".corrupt");
  }
  if (rename(PathOf(name).c_str(), target.c_str()) != 0) return WriteFailed(target, errno);
  ASSAY_RETURN_IF_ERROR(files::FsyncDirectory(set_aside_));
  ASSAY_RETURN_IF_ERROR(files::FsyncDirectory(directory_));
  return target;
}

absl::Status DiskSpool::Put(const v1::TaskResult& result) {
  TaskKey key = TaskKey::Of(result.ref());
  std::string content = EncodeFile(result);
  absl::Status written = Write(key, content);
  Entry entry{content.size(), std::nullopt};
  if (!written.ok()) entry.content = std::move(content);
  Insert(key, std::move(entry));
  return written;
}

absl::Status DiskSpool::PutIfRoom(const v1::TaskResult& result) {
  TaskKey key = TaskKey::Of(result.ref());
  std::string content = EncodeFile(result);
  if (bytes_ + content.size() > options_.max_bytes + options_.reserve_bytes) {
    return Error(absl::StatusCode::kResourceExhausted, "agent.spool_full",
                 {{"directory", directory_}, {"limit_bytes", absl::StrCat(options_.max_bytes)}});
  }
  ASSAY_RETURN_IF_ERROR(Write(key, content));
  Insert(key, {content.size(), std::nullopt});
  return absl::OkStatus();
}

absl::StatusOr<v1::TaskResult> DiskSpool::Get(const TaskKey& key) {
  auto found = entries_.find(key);
  if (found == entries_.end()) return absl::NotFoundError("not spooled");
  std::string name = FileName(key);
  if (found->second.content.has_value()) return DecodeFile(*found->second.content, name);
  absl::StatusOr<std::string> content = files::Read(PathOf(name), kLargestFile);
  if (!content.ok()) {
    if (absl::IsNotFound(content.status())) {  // removed behind our back
      Forget(key);
      return absl::DataLossError(content.status().message());
    }
    return content.status();
  }
  absl::StatusOr<v1::TaskResult> result = DecodeFile(*content, name);
  if (!result.ok()) {
    Forget(key);
    SetAside(name, result.status());
  }
  return result;
}

absl::Status DiskSpool::Remove(const TaskKey& key) {
  if (!Has(key)) return absl::OkStatus();
  Forget(key);
  // Not fsynced: a file that comes back after a power cut is sent again and acknowledged again.
  return files::Remove(PathOf(FileName(key)));
}

std::vector<TaskKey> DiskSpool::List() const {
  std::vector<TaskKey> keys;
  keys.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  return keys;
}

absl::Status DiskSpool::RetryUnwritten() {
  if (unwritten_ == 0) return absl::OkStatus();
  for (auto& [key, entry] : entries_) {
    if (!entry.content.has_value()) continue;
    ASSAY_RETURN_IF_ERROR(Write(key, *entry.content));
    entry.content.reset();
    --unwritten_;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Spool>> OpenSpool(const std::string& directory,
                                                 const std::string& set_aside,
                                                 const SpoolOptions& options) {
  auto spool = std::make_unique<DiskSpool>(directory, set_aside, options);
  ASSAY_RETURN_IF_ERROR(spool->Load());
  return spool;
}

}  // namespace assay::spool
