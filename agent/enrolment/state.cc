#include "agent/enrolment/state.h"

#include <sys/stat.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"

namespace assay::enrolment {

StatePaths::StatePaths(const std::string& dir)
    : directory(dir),
      identity(dir + "/identity.pem"),
      coordinator(dir + "/coordinator"),
      spool(dir + "/spool"),
      corrupt(dir + "/corrupt") {}

bool IsEnrolled(const StatePaths& paths) {
  struct stat info;
  return lstat(paths.identity.c_str(), &info) == 0;
}

absl::StatusOr<Enrolment> LoadEnrolment(const StatePaths& paths) {
  struct stat info;
  if (stat(paths.identity.c_str(), &info) != 0 && errno == ENOENT) {
    return Error(absl::StatusCode::kFailedPrecondition, "agent.not_enrolled",
                 {{"directory", paths.directory}});
  }
  ASSAY_ASSIGN_OR_RETURN(std::string text, files::Read(paths.coordinator, 4096));
  Enrolment enrolment;
  ASSAY_ASSIGN_OR_RETURN(enrolment.coordinator,
                         tls::ParseHostPort(absl::StripAsciiWhitespace(text)));
  ASSAY_ASSIGN_OR_RETURN(enrolment.identity, tls::LoadIdentity(paths.identity));
  enrolment.obtained = absl::TimeFromTimespec(info.st_mtim);
  return enrolment;
}

}  // namespace assay::enrolment
