// Grammar: "assay://" coordinator "/" ( "coordinator" / "agent/" id / "person/" id ), where id is
// percent-encoded in its only normal form (RFC 3986, section 6.2.2: upper-case digits, unreserved
// characters as they are), so that two spellings never name one peer.
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/message.h"
#include "common/base/percent.h"
#include "server/pki/authority.h"
#include "server/pki/names.h"

namespace assay::pki {
namespace {

constexpr absl::string_view kScheme = "assay://";
constexpr size_t kMaxIdBytes = 256;

absl::Status BadPeerUri(absl::string_view uri) {
  return Error(absl::StatusCode::kUnauthenticated, "identity.bad_peer_uri",
               {{"uri", absl::CHexEscape(uri.substr(0, 300))}});
}

}  // namespace

bool IsCoordinatorName(absl::string_view name) {
  return !name.empty() && name.size() <= 50 && PercentEncode(name) == name;
}

bool IsPeerId(absl::string_view id) { return !id.empty() && id.size() <= kMaxIdBytes; }

std::string FormatPeerUri(const PeerName& name) {
  std::string uri = absl::StrCat(kScheme, name.coordinator, "/");
  switch (name.kind) {
    case PeerKind::kAgent:
      return absl::StrCat(uri, "agent/", PercentEncode(name.id));
    case PeerKind::kPerson:
      return absl::StrCat(uri, "person/", PercentEncode(name.id));
    case PeerKind::kCoordinator:
      break;
  }
  return absl::StrCat(uri, "coordinator");
}

absl::StatusOr<PeerName> ParsePeerUri(absl::string_view uri) {
  absl::string_view rest = uri;
  if (!absl::ConsumePrefix(&rest, kScheme)) return BadPeerUri(uri);
  size_t slash = rest.find('/');
  if (slash == absl::string_view::npos) return BadPeerUri(uri);
  PeerName name;
  name.coordinator = std::string(rest.substr(0, slash));
  rest.remove_prefix(slash + 1);
  if (rest == "coordinator") {
    name.kind = PeerKind::kCoordinator;
  } else {
    if (absl::ConsumePrefix(&rest, "agent/")) {
      name.kind = PeerKind::kAgent;
    } else if (absl::ConsumePrefix(&rest, "person/")) {
      name.kind = PeerKind::kPerson;
    } else {
      return BadPeerUri(uri);
    }
    name.id = PercentDecode(rest);
    if (!IsPeerId(name.id)) return BadPeerUri(uri);
  }
  if (!IsCoordinatorName(name.coordinator) || FormatPeerUri(name) != uri) return BadPeerUri(uri);
  return name;
}

}  // namespace assay::pki
