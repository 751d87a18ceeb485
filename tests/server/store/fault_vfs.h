// A file layer under SQLite that fails on purpose, and that remembers what a power cut would leave.
#ifndef ASSAY_TESTS_SERVER_STORE_FAULT_VFS_H_
#define ASSAY_TESTS_SERVER_STORE_FAULT_VFS_H_

#include <sqlite3.h>

#include <map>
#include <mutex>
#include <string>

namespace assay::store {

// Passes everything on to the system's layer. Between Arm() and Disarm() it counts the calls that
// change the disk (write, truncate, sync, delete) and fails the n-th. A failing write writes half.
class FaultVfs {
 public:
  enum class Kind {
    kFull,        // SQLITE_FULL from writes; syncs give an I/O error
    kInputOutput  // an I/O error from either
  };

  // Registered under `name` while it lives.
  explicit FaultVfs(const std::string& name);
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  ~FaultVfs();
  const std::string& name() const { return name_; }

  // Fails call number `nth` (from 1), and if `lasting` every later one too.
  void Arm(int nth, Kind kind, bool lasting);
  // Calls that failed since Arm().
  int Disarm();

  // From now on, what is synced is remembered.
  void Remember();
  // Files as a power cut would leave them now: of each, what was last synced.
  std::map<std::string, std::string> Synced() const;
  int syncs() const;

  // For the file layer: what this call is to return; SQLITE_OK to go on.
  int OnChange(bool sync);
  void OnSynced(const std::string& path);
  void OnDeleted(const std::string& path);
  sqlite3_vfs* below() const { return below_; }

 private:
  const std::string name_;
  sqlite3_vfs* below_;
  sqlite3_vfs vfs_;

  mutable std::mutex mutex_;  // guards the rest
  bool armed_ = false;
  int countdown_ = 0;
  Kind kind_ = Kind::kFull;
  bool lasting_ = false;
  int failed_ = 0;
  bool remember_ = false;
  int syncs_ = 0;
  std::map<std::string, std::string> synced_;
};

}  // namespace assay::store

#endif  // ASSAY_TESTS_SERVER_STORE_FAULT_VFS_H_
