#include "common/tls/dial.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/tls/connect.h"
#include "common/tls/handshake.h"
#include "common/tls/openssl.h"
#include "common/tls/proxy.h"

namespace assay::tls {
namespace {

// How long a peer that accepted the handshake may stay silent before that counts as consent. gRPC
// servers speak first (HTTP/2 SETTINGS), so this is only waited for by others.
constexpr absl::Duration kSilence = absl::Seconds(3);

bool IsHostCharacter(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_'; }

// An IPv6 address, with or without a zone ("fe80::1%eth0").
bool IsIpv6(absl::string_view host) {
  size_t percent = host.find('%');
  if (percent != absl::string_view::npos) {
    absl::string_view zone = host.substr(percent + 1);
    if (zone.empty() || !std::all_of(zone.begin(), zone.end(), IsHostCharacter)) return false;
  }
  std::string address(host.substr(0, percent));
  unsigned char bytes[16];
  return address.find('\0') == std::string::npos &&
         inet_pton(AF_INET6, address.c_str(), bytes) == 1;
}

absl::Status BadHostPort(absl::string_view text) {
  return Error(absl::StatusCode::kInvalidArgument, "identity.bad_address",
               {{"address", absl::CHexEscape(text.substr(0, 300))}});
}

// Of 4 or 16 bytes in network order.
std::string AddressText(absl::string_view bytes) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (bytes.size() == 4 || bytes.size() == 16) {
    inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text));
  }
  return text;
}

std::string Date(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

absl::Status DialError(absl::StatusCode code, absl::string_view id, const HostPort& peer,
                       MessageArgs args = {}) {
  args.emplace_back("peer", peer.ToString());
  return Error(code, id, args);
}

// DNS names and addresses that a certificate is for.
std::string NamesIn(const X509& certificate) {
  NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> texts;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      const ASN1_IA5STRING* dns = name->d.dNSName;
      texts.push_back(absl::CHexEscape(
          absl::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(dns)),
                            static_cast<size_t>(ASN1_STRING_length(dns)))));
    } else if (name->type == GEN_IPADD) {
      texts.push_back(AddressText(
          absl::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.iPAddress)),
                            static_cast<size_t>(ASN1_STRING_length(name->d.iPAddress)))));
    }
  }
  return texts.empty() ? "-" : absl::StrJoin(texts, ", ");
}

// Why the coordinator's certificate was refused here.
absl::Status PeerCertificateError(const HostPort& peer, const TlsClient& client,
                                  const Identity& identity, int reason, absl::Time now) {
  const X509& certificate = *client.peer_certificate();
  switch (reason) {
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CERT_HAS_EXPIRED: {
      const bool early = reason == X509_V_ERR_CERT_NOT_YET_VALID;
      const ASN1_TIME* limit =
          early ? X509_get0_notBefore(&certificate) : X509_get0_notAfter(&certificate);
      ASSAY_ASSIGN_OR_RETURN(absl::Time time, FromAsn1(limit));
      return DialError(absl::StatusCode::kFailedPrecondition,
                       early ? "identity.peer_not_yet_valid" : "identity.peer_expired", peer,
                       {{"limit", Date(time)}, {"now", Date(now)}});
    }
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return DialError(absl::StatusCode::kPermissionDenied, "identity.name_mismatch", peer,
                       {{"host", peer.host}, {"names", NamesIn(certificate)}});
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: {
      ASSAY_ASSIGN_OR_RETURN(CertificateInfo ca, ReadCertificate(identity.ca_pem));
      return DialError(
          absl::StatusCode::kPermissionDenied, "identity.other_coordinator", peer,
          {{"expected", ca.sha256}, {"found", FingerprintOf(*client.PeerChain().back())}});
    }
    default:
      return DialError(absl::StatusCode::kPermissionDenied, "identity.peer_refused", peer,
                       {{"detail", X509_verify_cert_error_string(reason)}});
  }
}

// What went wrong in the handshake itself, before certificates.
absl::Status HandshakeError(const HostPort& peer, const TlsOutcome& outcome) {
  switch (outcome.end) {
    case TlsEnd::kTimedOut:
      return DialError(absl::StatusCode::kDeadlineExceeded, "identity.tls_timed_out", peer);
    case TlsEnd::kClosed:
      return DialError(absl::StatusCode::kUnavailable, "identity.tls_closed", peer,
                       {{"detail", outcome.detail}});
    case TlsEnd::kNotTls:
      return DialError(absl::StatusCode::kUnavailable, "identity.not_tls", peer);
    default:
      return DialError(absl::StatusCode::kUnavailable, "identity.tls_failed", peer,
                       {{"detail", outcome.detail}});
  }
}

// Whether our own certificate is valid by our own clock.
absl::Status OwnCertificateError(const Identity& identity, absl::Time now) {
  ASSAY_ASSIGN_OR_RETURN(CertificateInfo own, ReadCertificate(identity.chain_pem));
  if (now > own.not_after) {
    return Error(absl::StatusCode::kFailedPrecondition, "identity.own_expired",
                 {{"limit", Date(own.not_after)}, {"now", Date(now)}});
  }
  if (now < own.not_before) {
    return Error(absl::StatusCode::kFailedPrecondition, "identity.own_not_yet_valid",
                 {{"limit", Date(own.not_before)}, {"now", Date(now)}});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> NormalFingerprint(absl::string_view text) {
  std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  absl::string_view digits = lower;
  if (!absl::ConsumePrefix(&digits, "sha256:") || digits.size() != 64 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return absl::ascii_isxdigit(c); })) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_fingerprint",
                 {{"fingerprint", absl::CHexEscape(text.substr(0, 100))}});
  }
  return lower;
}

}  // namespace

std::string HostPort::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text, int default_port) {
  HostPort result;
  result.port = default_port;
  absl::string_view rest = text;
  absl::string_view port;
  bool has_port = false;
  if (absl::ConsumePrefix(&rest, "[")) {
    size_t close = rest.find(']');
    if (close == absl::string_view::npos || !IsIpv6(rest.substr(0, close))) {
      return BadHostPort(text);
    }
    result.host = std::string(rest.substr(0, close));
    rest.remove_prefix(close + 1);
    has_port = absl::ConsumePrefix(&rest, ":");
    if (!has_port && !rest.empty()) return BadHostPort(text);
    port = rest;
  } else if (IsIpv6(rest)) {
    result.host = std::string(rest);
  } else {
    size_t colon = rest.find(':');
    has_port = colon != absl::string_view::npos;
    absl::string_view host = rest.substr(0, colon);
    if (has_port) port = rest.substr(colon + 1);
    if (host.empty() || host.size() > 253 ||
        !std::all_of(host.begin(), host.end(), IsHostCharacter)) {
      return BadHostPort(text);
    }
    result.host = std::string(host);
  }
  if (has_port) {
    const bool digits = !port.empty() && port.size() <= 5 &&
                        std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
    if (!digits || !absl::SimpleAtoi(port, &result.port) || result.port < 1 ||
        result.port > 65535) {
      return BadHostPort(text);
    }
  }
  return result;
}

absl::StatusOr<std::string> FetchCa(const HostPort& coordinator, absl::string_view ca_fingerprint,
                                    absl::Duration timeout) {
  ASSAY_ASSIGN_OR_RETURN(std::string wanted, NormalFingerprint(ca_fingerprint));
  Deadline deadline(timeout);
  ASSAY_ASSIGN_OR_RETURN(std::optional<Proxy> proxy, ProxyFor(coordinator, ProcessEnvironment()));
  ASSAY_ASSIGN_OR_RETURN(Socket socket, Connect(coordinator, proxy, deadline));
  ASSAY_ASSIGN_OR_RETURN(TlsClient client, TlsClient::Make(coordinator, std::nullopt, absl::Now()));
  TlsOutcome outcome = client.Handshake(socket, deadline);
  if (outcome.end != TlsEnd::kOk) return HandshakeError(coordinator, outcome);

  std::vector<CertificatePtr> chain = client.PeerChain();
  for (const CertificatePtr& candidate : chain) {
    if (FingerprintOf(*candidate) != wanted || X509_check_ca(candidate.get()) == 0) continue;
    // Anybody can show the CA's certificate; only the coordinator has one that it issued.
    if (VerifyChain(*client.peer_certificate(), chain, *candidate) != X509_V_OK) {
      return DialError(absl::StatusCode::kPermissionDenied, "identity.impostor", coordinator);
    }
    return CertificateToPem(*candidate);
  }
  return DialError(
      absl::StatusCode::kPermissionDenied, "identity.other_fingerprint", coordinator,
      {{"expected", wanted}, {"found", chain.empty() ? "-" : FingerprintOf(*chain.back())}});
}

absl::Status Diagnose(const HostPort& coordinator, const std::optional<Identity>& identity,
                      absl::Duration timeout, absl::Time now) {
  Deadline deadline(timeout);
  ASSAY_ASSIGN_OR_RETURN(std::optional<Proxy> proxy, ProxyFor(coordinator, ProcessEnvironment()));
  ASSAY_ASSIGN_OR_RETURN(Socket socket, Connect(coordinator, proxy, deadline));
  if (identity.has_value()) ASSAY_RETURN_IF_ERROR(OwnCertificateError(*identity, now));
  ASSAY_ASSIGN_OR_RETURN(TlsClient client, TlsClient::Make(coordinator, identity, now));

  const absl::string_view own_refused = "identity.own_refused";
  TlsOutcome outcome = client.Handshake(socket, deadline);
  if (outcome.end == TlsEnd::kCertificate) {
    return PeerCertificateError(coordinator, client, *identity, outcome.verify_error, now);
  }
  // Once we have seen its certificate, an alert is about ours (TLS 1.2 says so here, 1.3 below).
  const bool presented = identity.has_value() && client.peer_certificate() != nullptr;
  if (outcome.end == TlsEnd::kAlert && presented) {
    return DialError(absl::StatusCode::kPermissionDenied, own_refused, coordinator,
                     {{"detail", outcome.detail}});
  }
  if (outcome.end != TlsEnd::kOk) return HandshakeError(coordinator, outcome);
  if (!client.negotiated_http2()) {
    return DialError(absl::StatusCode::kUnavailable, "identity.not_grpc", coordinator);
  }

  outcome = client.AwaitData(socket, Deadline(std::min(deadline.Left(), kSilence)));
  if (outcome.end == TlsEnd::kOk || outcome.end == TlsEnd::kTimedOut) return absl::OkStatus();
  // gRPC closes without an alert when it refuses a certificate.
  if (presented && (outcome.end == TlsEnd::kAlert || outcome.end == TlsEnd::kClosed)) {
    return DialError(absl::StatusCode::kPermissionDenied, own_refused, coordinator,
                     {{"detail", outcome.detail}});
  }
  return HandshakeError(coordinator, outcome);
}

}  // namespace assay::tls
