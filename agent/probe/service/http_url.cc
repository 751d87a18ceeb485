#include "agent/probe/service/http_url.h"

#include <curl/curl.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"

namespace assay::agent {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

std::string UrlPart(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

absl::Status BadUrl(absl::string_view id, absl::string_view url) {
  return Error(absl::StatusCode::kInvalidArgument, id, {{"url", std::string(url)}});
}

}  // namespace

absl::StatusOr<v1::HttpProbe> ParseHttpUrl(absl::string_view text) {
  // Without a scheme curl guesses one from the host's name ("ftp.example"): always http here.
  std::string whole(absl::StrContains(text, "://") ? text : absl::StrCat("http://", text));
  Url url(curl_url());
  if (whole.find('\0') != std::string::npos || url == nullptr ||
      curl_url_set(url.get(), CURLUPART_URL, whole.c_str(), 0) != CURLUE_OK) {
    return BadUrl("probe.bad_url", text);
  }
  v1::HttpProbe probe;
  probe.set_scheme(UrlPart(url.get(), CURLUPART_SCHEME));
  if (probe.scheme() != "http" && probe.scheme() != "https") return BadUrl("probe.bad_url", text);
  if (!UrlPart(url.get(), CURLUPART_USER).empty() ||
      !UrlPart(url.get(), CURLUPART_PASSWORD).empty()) {
    // Not repeated: it holds a secret.
    return BadUrl("probe.url_credentials", UrlPart(url.get(), CURLUPART_HOST));
  }
  probe.set_target(UrlPart(url.get(), CURLUPART_HOST));
  if (absl::StartsWith(probe.target(), "[")) {
    probe.set_target(probe.target().substr(1, probe.target().size() - 2));
  }
  uint32_t port = 0;
  if (!absl::SimpleAtoi(UrlPart(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT), &port) ||
      port == 0) {
    return BadUrl("probe.bad_url", text);
  }
  probe.set_port(port);
  std::string query = UrlPart(url.get(), CURLUPART_QUERY);
  probe.set_path(absl::StrCat(UrlPart(url.get(), CURLUPART_PATH), query.empty() ? "" : "?", query));
  return probe;
}

}  // namespace assay::agent
