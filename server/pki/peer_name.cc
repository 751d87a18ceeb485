// Grammar: "assay://" coordinator "/" ( "coordinator" / "agent/" id / "person/" id ), where id is
// percent-encoded in its only normal form (RFC 3986, section 6.2.2: upper-case digits, unreserved
// characters as they are), so that two spellings never name one peer.
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/base/message.h"
#include "server/pki/authority.h"
#include "server/pki/names.h"

namespace assay::pki {
namespace {

constexpr absl::string_view kScheme = "assay://";
constexpr size_t kMaxIdBytes = 256;

bool IsPlain(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_'; }

std::string PercentEncode(absl::string_view text) {
  std::string encoded;
  for (char c : text) {
    if (IsPlain(c)) {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

// Malformed escapes stay as they are and so never equal their own encoding.
std::string PercentDecodeId(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2]) && absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte)) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

absl::Status BadPeerUri(absl::string_view uri) {
  return Error(absl::StatusCode::kUnauthenticated, "identity.bad_peer_uri",
               {{"uri", absl::CHexEscape(uri.substr(0, 300))}});
}

}  // namespace

bool IsCoordinatorName(absl::string_view name) {
  if (name.empty() || name.size() > 50) return false;
  for (char c : name) {
    if (!IsPlain(c)) return false;
  }
  return true;
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
    name.id = PercentDecodeId(rest);
    if (!IsPeerId(name.id)) return BadPeerUri(uri);
  }
  if (!IsCoordinatorName(name.coordinator) || FormatPeerUri(name) != uri) return BadPeerUri(uri);
  return name;
}

}  // namespace assay::pki
