// A coordinator's directory:
//   assayd.yaml        name, address, listen
//   assay.db           the store
//   pki/               CA key and certificate, serving identity
//   admin/             context of the first admin, for `assay --context`
#ifndef ASSAY_SERVER_APP_SETTINGS_H_
#define ASSAY_SERVER_APP_SETTINGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/tls/dial.h"

namespace assay::app {

struct Settings {
  std::string name;     // of the coordinator, part of every certificate
  std::string address;  // host:port that agents and people dial
  std::string listen;   // host:port to bind; default 0.0.0.0 and the port of `address`
};

struct Paths {
  explicit Paths(const std::string& directory);
  std::string directory, settings, database, pki, serving_identity, admin;
};

// INVALID_ARGUMENT that names file and key; NOT_FOUND where the directory holds no coordinator.
absl::StatusOr<Settings> LoadSettings(const Paths& paths);
absl::StatusOr<Settings> ParseSettings(absl::string_view yaml, const std::string& file_name);
// As tls::ParseHostPort, and port 0 for any free one.
absl::StatusOr<tls::HostPort> ParseListen(absl::string_view text);
std::string FormatSettings(const Settings& settings);

}  // namespace assay::app

#endif  // ASSAY_SERVER_APP_SETTINGS_H_
