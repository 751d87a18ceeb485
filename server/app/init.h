// `assayd init`: creates a coordinator.
#ifndef ASSAY_SERVER_APP_INIT_H_
#define ASSAY_SERVER_APP_INIT_H_

#include <string>

#include "absl/status/status.h"
#include "common/clock/clock.h"
#include "server/app/settings.h"

namespace assay::app {

// Makes CA, database and the first admin's context in `directory`. All or nothing: everything is
// made in a directory beside it, which is then renamed. ALREADY_EXISTS where there is a
// coordinator.
absl::Status Initialise(const std::string& directory, const Settings& settings,
                        const std::string& admin_name, const Clock& clock);

}  // namespace assay::app

#endif  // ASSAY_SERVER_APP_INIT_H_
