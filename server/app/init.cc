#include "server/app/init.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/names.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "common/tls/identity.h"
#include "server/dispatch/access.h"
#include "server/pki/authority.h"
#include "server/store/sqlite_store.h"

namespace assay::app {
namespace {

// Key and certificate of the first admin, as `assay --context` wants them.
absl::Status MakeAdminContext(const Paths& paths, const Settings& settings,
                              const std::string& admin_name, dispatch::Access& access,
                              const pki::Authority& authority) {
  tls::Identity identity;
  ASSAY_ASSIGN_OR_RETURN(identity.key_pem, tls::GenerateKey());
  ASSAY_ASSIGN_OR_RETURN(std::string csr, tls::MakeCsr(identity.key_pem));
  ASSAY_ASSIGN_OR_RETURN(v1::EnrolResponse enrolled, access.EnrolFirstAdmin(csr, admin_name));
  identity.chain_pem = enrolled.certificate_chain_pem();
  identity.ca_pem = authority.ca_pem();
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(paths.admin, 0700));
  ASSAY_RETURN_IF_ERROR(tls::SaveIdentity(paths.admin + "/identity.pem", identity));
  return files::WriteAtomically(paths.admin + "/coordinator", settings.address + "\n", 0644);
}

absl::Status Fill(const std::string& directory, const Settings& settings,
                  const std::string& admin_name, const Clock& clock) {
  Paths paths(directory);
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(paths.pki, 0700));
  ASSAY_RETURN_IF_ERROR(pki::Authority::Create(paths.pki, settings.name, clock.Now()));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<pki::Authority> authority,
                         pki::Authority::Load(paths.pki));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<store::Store> store,
                         store::OpenSqliteStore({paths.database, /*create=*/true}));
  dispatch::AccessOptions options;
  options.store = store.get();
  options.authority = authority.get();
  options.clock = &clock;
  options.advertised_address = settings.address;
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<dispatch::Access> access,
                         dispatch::Access::Create(options));
  ASSAY_RETURN_IF_ERROR(MakeAdminContext(paths, settings, admin_name, *access, *authority));
  return files::WriteAtomically(paths.settings, FormatSettings(settings), 0644);
}

}  // namespace

absl::Status Initialise(const std::string& directory, const Settings& settings,
                        const std::string& admin_name, const Clock& clock) {
  if (!IsValidName(admin_name)) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_name", {{"name", admin_name}});
  }
  // An empty directory that somebody prepared (a mount, a packaged one) is fine.
  absl::StatusOr<std::vector<std::string>> content = files::List(directory);
  if (content.ok() && !content->empty()) {
    return Error(absl::StatusCode::kAlreadyExists, "server.already_initialised",
                 {{"dir", directory}});
  }
  if (!content.ok() && !absl::IsNotFound(content.status())) return content.status();
  std::string path = directory;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::string making = absl::StrCat(path, ".making");
  std::error_code ignored;
  std::filesystem::remove_all(making, ignored);
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(making, 0700));
  absl::Cleanup remove = [&making] {
    std::error_code error;
    std::filesystem::remove_all(making, error);
  };
  ASSAY_RETURN_IF_ERROR(Fill(making, settings, admin_name, clock));
  // rename() replaces an empty directory, and fails on one that has been filled in the meantime.
  if (rename(making.c_str(), path.c_str()) != 0) {
    return Error(absl::StatusCode::kInternal, "system.write_failed",
                 {{"path", path}, {"detail", std::strerror(errno)}});
  }
  std::move(remove).Cancel();
  std::string parent = std::filesystem::absolute(path).parent_path().string();
  return files::FsyncDirectory(parent);
}

}  // namespace assay::app
