// The probes of what a server or a data source offers.
#ifndef ASSAY_AGENT_PROBE_SERVICE_SERVICE_PROBES_H_
#define ASSAY_AGENT_PROBE_SERVICE_SERVICE_PROBES_H_

#include <memory>

#include "agent/probe/probe.h"

namespace assay::agent {

// "http": requests by libcurl, each on a new connection, one after the other. Redirects are not
// followed. A server that does not answer, answers wrongly or whose name does not resolve is
// measured; OUTCOME_NOT_MEASURABLE only where the guard refuses its address.
//
// Name look-up. Every request asks the system's resolver and that time is its name_lookup_ns, but
// all requests go to the first address that the first successful look-up gave: the figures are of
// one machine, and of an address that the guard has seen. The look-up's time is added to curl's
// cumulative times, so that they mean what `curl --write-out` prints; only the reading of the
// certificate store, some 20 ms that the curl command spends inside time_appconnect, is left out.
//
// Environment, read as the curl command does: http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY (lower
// case too); CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR replace the system's certificate store;
// one that cannot be read is OUTCOME_FAILED and no fault of the server.
// A proxy other than socks4:// and socks5:// resolves names itself: there the guard is asked about
// the addresses that this host's resolver gives, if it gives any, name_lookup_ns is of the proxy's
// name, and the evidence has no address for a name.
std::unique_ptr<Probe> MakeHttpProbe();

}  // namespace assay::agent

#endif  // ASSAY_AGENT_PROBE_SERVICE_SERVICE_PROBES_H_
