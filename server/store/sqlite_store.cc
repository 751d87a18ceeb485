#include "server/store/sqlite_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/files/files.h"
#include "server/store/documents.h"
#include "server/store/failures.h"
#include "server/store/file_lock.h"
#include "server/store/identities.h"
#include "server/store/migrations.h"
#include "server/store/reader_pool.h"
#include "server/store/results.h"
#include "server/store/runs.h"
#include "server/store/verdicts.h"
#include "server/store/writer.h"

namespace assay::store {
namespace {

constexpr int kReaders = 4;

// A result on its way to the writer.
struct PendingResult {
  NewResult result;
  AppendResult appended;
  Store::AppendCallback done;
};

size_t BytesOf(const NewResult& result) {
  size_t bytes = sizeof(PendingResult) + result.result.ByteSizeLong();
  for (const v1::Metric& metric : result.metrics) bytes += metric.ByteSizeLong();
  return bytes;
}

class SqliteStore final : public Store {
 public:
  SqliteStore(FileLock lock, std::unique_ptr<Connection> writing,
              std::vector<std::unique_ptr<Connection>> reading, const SqliteOptions& options)
      : lock_(std::move(lock)),
        writer_(std::move(writing),
                {options.queue_requests, options.queue_bytes, options.checkpoint_frames}),
        readers_(std::move(reading)) {}

  absl::Status PutDocuments(const std::vector<v1::Document>& documents) override {
    return writer_.Run([&](Connection& db) { return documents::Put(db, documents); });
  }
  absl::StatusOr<v1::Document> GetDocument(absl::string_view kind,
                                           absl::string_view name) override {
    return readers_.Do([&](Connection& db) { return documents::Get(db, kind, name); });
  }
  absl::StatusOr<std::vector<v1::Document>> ListDocuments(absl::string_view kind) override {
    return readers_.Do([&](Connection& db) { return documents::List(db, kind); });
  }

  absl::Status PutToken(const TokenRecord& token) override {
    return writer_.Run([&](Connection& db) { return identities::PutToken(db, token); });
  }
  absl::Status RedeemToken(
      absl::string_view token_sha256, absl::Time now,
      const std::function<absl::StatusOr<CertificateRecord>(const Subject&)>& make) override {
    return writer_.Run(
        [&](Connection& db) { return identities::RedeemToken(db, token_sha256, now, make); });
  }
  absl::Status PutCertificate(const CertificateRecord& certificate) override {
    return writer_.Run([&](Connection& db) { return identities::PutCertificate(db, certificate); });
  }
  absl::StatusOr<CertificateRecord> GetCertificate(absl::string_view serial) override {
    return readers_.Do([&](Connection& db) { return identities::GetCertificate(db, serial); });
  }
  absl::StatusOr<std::vector<CertificateRecord>> ListCertificates() override {
    return readers_.Do(identities::ListCertificates);
  }
  absl::StatusOr<uint32_t> Revoke(v1::SubjectKind kind, absl::string_view name,
                                  absl::string_view reason, absl::Time now) override {
    uint32_t revoked = 0;
    ASSAY_RETURN_IF_ERROR(writer_.Run([&](Connection& db) -> absl::Status {
      ASSAY_ASSIGN_OR_RETURN(revoked, identities::Revoke(db, kind, name, reason, now));
      return absl::OkStatus();
    }));
    return revoked;
  }

  absl::StatusOr<std::vector<AgentRecord>> ListAgents() override {
    return readers_.Do(identities::ListAgents);
  }
  absl::Status UpdateAgent(absl::string_view agent_id, absl::Time last_seen_at,
                           absl::string_view peer, const std::optional<v1::Hello>& hello) override {
    return writer_.Run([&](Connection& db) {
      return identities::UpdateAgent(db, agent_id, last_seen_at, peer, hello);
    });
  }

  absl::Status InsertRun(const RunRecord& run, const std::vector<TaskRecord>& tasks) override {
    return writer_.Run([&](Connection& db) { return runs::Insert(db, run, tasks); });
  }
  absl::StatusOr<RunRecord> GetRun(absl::string_view id) override {
    return readers_.Do([&](Connection& db) { return runs::Get(db, id); });
  }
  absl::StatusOr<std::vector<RunRecord>> ListRuns(absl::string_view plan, uint32_t limit) override {
    return readers_.Do([&](Connection& db) { return runs::List(db, plan, limit); });
  }
  absl::StatusOr<std::vector<RunRecord>> ListActiveRuns() override {
    return readers_.Do(runs::ListActive);
  }
  absl::StatusOr<RunRecord> NewestRunOf(absl::string_view server) override {
    return readers_.Do([&](Connection& db) { return runs::NewestOf(db, server); });
  }
  absl::Status EndRun(absl::string_view id, v1::RunState state, absl::Time ended_at) override {
    return writer_.Run([&](Connection& db) { return runs::End(db, id, state, ended_at); });
  }
  absl::StatusOr<std::vector<TaskRecord>> ListTasks(absl::string_view run) override {
    return readers_.Do([&](Connection& db) { return runs::ListTasks(db, run); });
  }
  absl::StatusOr<v1::TaskCounts> CountTasks(absl::string_view run,
                                            absl::string_view server) override {
    return readers_.Do([&](Connection& db) { return runs::CountTasks(db, run, server); });
  }
  absl::Status TransitionTasks(const std::vector<TaskTransition>& transitions) override {
    return writer_.Run([&](Connection& db) { return runs::TransitionTasks(db, transitions); });
  }

  void AppendResultAsync(NewResult result, AppendCallback done) override {
    size_t bytes = BytesOf(result);
    auto pending = std::make_shared<PendingResult>(
        PendingResult{std::move(result), AppendResult{}, std::move(done)});
    writer_.Submit(
        bytes,
        [pending](Connection& db) -> absl::Status {
          ASSAY_ASSIGN_OR_RETURN(pending->appended, results::Append(db, pending->result));
          return absl::OkStatus();
        },
        [pending](absl::Status status) {
          if (status.ok()) {
            pending->done(pending->appended);
          } else {
            pending->done(std::move(status));
          }
        });
  }
  absl::StatusOr<std::vector<v1::StoredResult>> ListResults(const ResultFilter& filter) override {
    return readers_.Do([&](Connection& db) { return results::List(db, filter); });
  }
  absl::StatusOr<v1::StoredResult> GetResult(int64_t id) override {
    return readers_.Do([&](Connection& db) { return results::Get(db, id); });
  }

  absl::Status PutVerdict(const v1::Verdict& verdict) override {
    return writer_.Run([&](Connection& db) { return verdicts::Put(db, verdict); });
  }
  absl::StatusOr<std::vector<v1::Verdict>> ListVerdicts(absl::string_view server,
                                                        uint32_t limit) override {
    return readers_.Do([&](Connection& db) { return verdicts::List(db, server, limit); });
  }

 private:
  // Destroyed from below: readers first, so that the writer, closing last, leaves no log behind.
  FileLock lock_;
  Writer writer_;
  ReaderPool readers_;
};

absl::Status Missing(const std::string& path) {
  return Error(absl::StatusCode::kNotFound, "store.missing", {{"path", path}});
}

// Whether there is something at `path`; an error for what can be no database.
absl::StatusOr<bool> Exists(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return SystemFailure(path, errno);
  }
  if (S_ISREG(info.st_mode)) return true;
  return Error(absl::StatusCode::kFailedPrecondition, "store.not_assay", {{"path", path}});
}

absl::Status SyncDirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return files::FsyncDirectory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

absl::StatusOr<std::unique_ptr<Store>> OpenLocked(const SqliteOptions& options, FileLock& lock) {
  Connection::Options connect{options.path, Connection::Mode::kWrite, options.vfs,
                              options.busy_timeout};
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Connection> writing, Connection::Open(connect));
  ASSAY_RETURN_IF_ERROR(Migrate(*writing, EmbeddedMigrations(), options.create));
  connect.mode = Connection::Mode::kRead;
  std::vector<std::unique_ptr<Connection>> reading(kReaders);
  for (std::unique_ptr<Connection>& reader : reading) {
    ASSAY_ASSIGN_OR_RETURN(reader, Connection::Open(connect));
  }
  return std::make_unique<SqliteStore>(std::move(lock), std::move(writing), std::move(reading),
                                       options);
}

absl::StatusOr<std::unique_ptr<Store>> CreateLocked(const SqliteOptions& options, FileLock& lock) {
  int fd = open(options.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return SystemFailure(options.path, errno);
  close(fd);
  absl::StatusOr<std::unique_ptr<Store>> store = OpenLocked(options, lock);
  if (store.ok()) {
    absl::Status durable = SyncDirectoryOf(options.path);
    if (durable.ok()) return store;
    store = durable;
  }
  for (const char* suffix : {"-shm", "-wal", ""}) {
    unlink(absl::StrCat(options.path, suffix).c_str());
  }
  return store;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const SqliteOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(bool exists, Exists(options.path));
  if (!exists && !options.create) return Missing(options.path);
  ASSAY_ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(options.path));
  // Looked at again under the lock: another process may have been creating it.
  ASSAY_ASSIGN_OR_RETURN(exists, Exists(options.path));
  if (exists) return OpenLocked(options, lock);
  return options.create ? CreateLocked(options, lock) : Missing(options.path);
}

}  // namespace assay::store
