#include "server/app/settings.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/message.h"
#include "common/base/names.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "core/document/yaml.h"

namespace assay::app {
namespace {

absl::Status Bad(const std::string& file, const std::string& detail) {
  return Error(absl::StatusCode::kInvalidArgument, "server.bad_settings",
               {{"path", file}, {"detail", detail}});
}

}  // namespace

Paths::Paths(const std::string& directory)
    : directory(directory),
      settings(directory + "/assayd.yaml"),
      database(directory + "/assay.db"),
      pki(directory + "/pki"),
      serving_identity(pki + "/serving.pem"),
      admin(directory + "/admin") {}

absl::StatusOr<Settings> ParseSettings(absl::string_view yaml, const std::string& file_name) {
  Settings settings;
  // yaml-cpp never returns from some malformed texts; the document reader knows them.
  ASSAY_RETURN_IF_ERROR(document::ParseYaml(yaml, file_name).status());
  try {
    YAML::Node root = YAML::Load(std::string(yaml));
    if (!root.IsMap()) return Bad(file_name, "name, address and listen are expected");
    for (const auto& entry : root) {
      std::string key = entry.first.as<std::string>();
      std::string value = entry.second.as<std::string>();
      if (key == "name") {
        settings.name = value;
      } else if (key == "address") {
        settings.address = value;
      } else if (key == "listen") {
        settings.listen = value;
      } else {
        return Bad(file_name, absl::StrCat("unknown key \"", key, "\""));
      }
    }
  } catch (const YAML::Exception& error) {
    return Bad(file_name, error.what());
  }
  if (!IsValidName(settings.name)) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_name",
                 {{"name", settings.name}});
  }
  ASSAY_ASSIGN_OR_RETURN(tls::HostPort address, tls::ParseHostPort(settings.address));
  settings.address = address.ToString();
  if (settings.listen.empty()) settings.listen = absl::StrCat("0.0.0.0:", address.port);
  ASSAY_ASSIGN_OR_RETURN(tls::HostPort listen, ParseListen(settings.listen));
  settings.listen = listen.ToString();
  return settings;
}

absl::StatusOr<Settings> LoadSettings(const Paths& paths) {
  absl::StatusOr<std::string> text = files::Read(paths.settings);
  if (absl::IsNotFound(text.status())) {
    return Error(absl::StatusCode::kNotFound, "server.not_initialised", {{"dir", paths.directory}});
  }
  ASSAY_RETURN_IF_ERROR(text.status());
  return ParseSettings(*text, paths.settings);
}

absl::StatusOr<tls::HostPort> ParseListen(absl::string_view text) {
  bool any_port = absl::ConsumeSuffix(&text, ":0");
  ASSAY_ASSIGN_OR_RETURN(tls::HostPort listen, tls::ParseHostPort(text));
  if (any_port) listen.port = 0;
  return listen;
}

std::string FormatSettings(const Settings& settings) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  out << YAML::Key << "name" << YAML::Value << settings.name;
  out << YAML::Key << "address" << YAML::Value << settings.address;
  out << YAML::Key << "listen" << YAML::Value << settings.listen;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace assay::app
