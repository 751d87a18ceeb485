#include "tests/server/store/fault_vfs.h"

#include <new>

#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

// SQLite gives us szOsFile bytes: this, and behind it the file of the layer below.
struct FaultFile {
  sqlite3_file base;
  FaultVfs* owner;
  std::string* path;
  sqlite3_file* below;
};

FaultFile* Self(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file); }
sqlite3_file* Below(sqlite3_file* file) { return Self(file)->below; }
FaultVfs* Owner(sqlite3_vfs* vfs) { return static_cast<FaultVfs*>(vfs->pAppData); }

int Close(sqlite3_file* file) {
  int code = Below(file)->pMethods->xClose(Below(file));
  delete Self(file)->path;
  return code;
}
int Read(sqlite3_file* file, void* into, int size, sqlite3_int64 at) {
  return Below(file)->pMethods->xRead(Below(file), into, size, at);
}
int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  int fault = Self(file)->owner->OnChange(/*sync=*/false);
  if (fault != SQLITE_OK) {
    Below(file)->pMethods->xWrite(Below(file), from, size / 2, at);
    return fault;
  }
  return Below(file)->pMethods->xWrite(Below(file), from, size, at);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  int fault = Self(file)->owner->OnChange(/*sync=*/false);
  if (fault != SQLITE_OK) return SQLITE_IOERR_TRUNCATE;
  return Below(file)->pMethods->xTruncate(Below(file), size);
}
int Sync(sqlite3_file* file, int flags) {
  int fault = Self(file)->owner->OnChange(/*sync=*/true);
  if (fault != SQLITE_OK) return fault;
  int code = Below(file)->pMethods->xSync(Below(file), flags);
  if (code == SQLITE_OK) Self(file)->owner->OnSynced(*Self(file)->path);
  return code;
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Below(file)->pMethods->xFileSize(Below(file), size);
}
int Lock(sqlite3_file* file, int level) { return Below(file)->pMethods->xLock(Below(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Below(file)->pMethods->xUnlock(Below(file), level);
}
int CheckReserved(sqlite3_file* file, int* out) {
  return Below(file)->pMethods->xCheckReservedLock(Below(file), out);
}
int Control(sqlite3_file* file, int operation, void* argument) {
  return Below(file)->pMethods->xFileControl(Below(file), operation, argument);
}
int SectorSize(sqlite3_file* file) { return Below(file)->pMethods->xSectorSize(Below(file)); }
int Characteristics(sqlite3_file* file) {
  return Below(file)->pMethods->xDeviceCharacteristics(Below(file));
}
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return Below(file)->pMethods->xShmMap(Below(file), region, size, extend, out);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Below(file)->pMethods->xShmLock(Below(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Below(file)->pMethods->xShmBarrier(Below(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Below(file)->pMethods->xShmUnmap(Below(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,        Close,         Read,    Write,      Truncate,        Sync,   FileSize, Lock,
    Unlock,   CheckReserved, Control, SectorSize, Characteristics, ShmMap, ShmLock,  ShmBarrier,
    ShmUnmap, nullptr,       nullptr};

int OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  FaultVfs* owner = Owner(vfs);
  FaultFile* self = Self(file);
  self->base.pMethods = nullptr;
  self->below = reinterpret_cast<sqlite3_file*>(self + 1);
  int code = owner->below()->xOpen(owner->below(), name, self->below, flags, out);
  if (code != SQLITE_OK) return code;
  self->owner = owner;
  self->path = new std::string(name == nullptr ? "" : name);
  self->base.pMethods = &kMethods;
  return SQLITE_OK;
}

int DeleteFile(sqlite3_vfs* vfs, const char* name, int sync) {
  if (Owner(vfs)->OnChange(/*sync=*/false) != SQLITE_OK) return SQLITE_IOERR_DELETE;
  int code = Owner(vfs)->below()->xDelete(Owner(vfs)->below(), name, sync);
  if (code == SQLITE_OK) Owner(vfs)->OnDeleted(name);
  return code;
}

// The layer below gets its own sqlite3_vfs in the calls that use it.
int Access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
  return Owner(vfs)->below()->xAccess(Owner(vfs)->below(), name, flags, out);
}
int FullPathname(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return Owner(vfs)->below()->xFullPathname(Owner(vfs)->below(), name, size, out);
}

}  // namespace

FaultVfs::FaultVfs(const std::string& name)
    : name_(name), below_(sqlite3_vfs_find(nullptr)), vfs_(*below_) {
  vfs_.szOsFile = static_cast<int>(sizeof(FaultFile)) + below_->szOsFile;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = OpenFile;
  vfs_.xDelete = DeleteFile;
  vfs_.xAccess = Access;
  vfs_.xFullPathname = FullPathname;
  sqlite3_vfs_register(&vfs_, 0);
}

FaultVfs::~FaultVfs() { sqlite3_vfs_unregister(&vfs_); }

void FaultVfs::Arm(int nth, Kind kind, bool lasting) {
  std::lock_guard lock(mutex_);
  armed_ = true;
  countdown_ = nth;
  kind_ = kind;
  lasting_ = lasting;
  failed_ = 0;
}

int FaultVfs::Disarm() {
  std::lock_guard lock(mutex_);
  armed_ = false;
  return failed_;
}

int FaultVfs::OnChange(bool sync) {
  std::lock_guard lock(mutex_);
  if (!armed_) return SQLITE_OK;
  --countdown_;
  if (countdown_ > 0 || (countdown_ < 0 && !lasting_)) return SQLITE_OK;
  ++failed_;
  if (sync) return SQLITE_IOERR_FSYNC;
  return kind_ == Kind::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

void FaultVfs::Remember() {
  std::lock_guard lock(mutex_);
  remember_ = true;
}

void FaultVfs::OnSynced(const std::string& path) {
  std::lock_guard lock(mutex_);
  ++syncs_;
  // No other thread writes the file here: SQLite syncs it under the lock that writing needs.
  if (remember_) synced_[path] = ReadFile(path);
}

void FaultVfs::OnDeleted(const std::string& path) {
  std::lock_guard lock(mutex_);
  synced_.erase(path);
}

std::map<std::string, std::string> FaultVfs::Synced() const {
  std::lock_guard lock(mutex_);
  return synced_;
}

int FaultVfs::syncs() const {
  std::lock_guard lock(mutex_);
  return syncs_;
}

}  // namespace assay::store
