#include "cli/coordinator/context.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"

namespace assay::cli {
namespace {

std::string IdentityPath(const std::string& directory) {
  return absl::StrCat(directory, "/identity.pem");
}
std::string CoordinatorPath(const std::string& directory) {
  return absl::StrCat(directory, "/coordinator");
}

}  // namespace

std::string DefaultContextDirectory(const term::Environment& environment) {
  std::optional<std::string> value = environment("ASSAY_CONTEXT");
  if (value.has_value() && !value->empty()) return *value;
  value = environment("XDG_CONFIG_HOME");
  if (value.has_value() && !value->empty()) return absl::StrCat(*value, "/assay");
  return absl::StrCat(environment("HOME").value_or(""), "/.config/assay");
}

bool HasContext(const std::string& directory) {
  return access(IdentityPath(directory).c_str(), F_OK) == 0 ||
         access(CoordinatorPath(directory).c_str(), F_OK) == 0;
}

absl::StatusOr<Context> LoadContext(const std::string& directory) {
  if (access(CoordinatorPath(directory).c_str(), F_OK) != 0 && errno == ENOENT) {
    return Error(absl::StatusCode::kNotFound, "cli.no_context", {{"dir", directory}});
  }
  Context context;
  context.directory = directory;
  ASSAY_ASSIGN_OR_RETURN(std::string address, files::Read(CoordinatorPath(directory), 4096));
  ASSAY_ASSIGN_OR_RETURN(context.coordinator,
                         tls::ParseHostPort(absl::StripAsciiWhitespace(address)));
  ASSAY_ASSIGN_OR_RETURN(context.identity, tls::LoadIdentity(IdentityPath(directory)));
  return context;
}

absl::Status PrepareContextDirectory(const std::string& directory) {
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(directory, 0700));
  if (access(directory.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return Error(absl::StatusCode::kPermissionDenied, "system.write_failed",
               {{"path", directory}, {"detail", strerror(errno)}});
}

absl::Status SaveContext(const Context& context) {
  ASSAY_RETURN_IF_ERROR(tls::SaveIdentity(IdentityPath(context.directory), context.identity));
  return files::WriteAtomically(CoordinatorPath(context.directory),
                                context.coordinator.ToString() + "\n", 0644);
}

}  // namespace assay::cli
