#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "agent/guard/address.h"
#include "agent/probe/route/probe_result.h"
#include "agent/probe/route/resolve.h"
#include "agent/probe/service/certificate_store.h"
#include "agent/probe/service/http_proxy.h"
#include "agent/probe/service/http_request.h"
#include "agent/probe/service/http_target.h"
#include "agent/probe/service/service_probes.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"

namespace assay::agent {
namespace service {
namespace {

// How long the guard's question about a proxied name may take: this host often cannot resolve it.
constexpr absl::Duration kProxiedLookup = absl::Seconds(2);
constexpr absl::Duration kPoll = absl::Milliseconds(20);

std::optional<std::string> FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

// CLOCK_MONOTONIC, as Measurement's.
int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void AddNs(int64_t spent_ns, int64_t phase_ns, void (v1::HttpSample::*set)(int64_t),
           v1::HttpSample& sample) {
  if (phase_ns > 0) (sample.*set)(phase_ns + spent_ns);
}

// curl's clock started when the look-up had ended: shifts every phase that was reached.
void AddLookup(int64_t lookup_ns, v1::HttpSample& sample) {
  sample.set_name_lookup_ns(sample.name_lookup_ns() + lookup_ns);
  AddNs(lookup_ns, sample.connect_ns(), &v1::HttpSample::set_connect_ns, sample);
  AddNs(lookup_ns, sample.tls_ns(), &v1::HttpSample::set_tls_ns, sample);
  AddNs(lookup_ns, sample.first_byte_ns(), &v1::HttpSample::set_first_byte_ns, sample);
  sample.set_total_ns(sample.total_ns() + lookup_ns);
}

// One execution of the probe.
class HttpRun {
 public:
  HttpRun(const ProbeRequest& request, const ProbeControl& control)
      : request_(request), control_(control), measurement_(request.time_limit) {
    *evidence_.mutable_parameters() = request.probe.http();
    FillHttpDefaults(*evidence_.mutable_parameters());
  }

  v1::Result Run() {
    absl::StatusOr<HttpTarget> target = MakeHttpTarget(parameters());
    if (!target.ok()) return measurement_.Without(target.status());
    target_ = *std::move(target);
    proxy_ = ChooseProxy(target_.secure, target_.lookup_host, FromEnvironment);
    if (target_.secure && !parameters().insecure()) {
      absl::StatusOr<std::shared_ptr<X509_STORE>> store = LoadCertificateStore(FromEnvironment);
      if (!store.ok()) return measurement_.Without(store.status());
      certificates_ = *std::move(store);
    }
    evidence_.set_url(target_.url);
    evidence_.set_proxy(proxy_.shown);
    evidence_.set_certificate_unchecked(target_.secure && parameters().insecure());
    if (absl::Status refused = AskGuardAboutProxied(); !refused.ok()) {
      return measurement_.Without(refused);
    }
    if (absl::Status refused = MakeRequests(); !refused.ok()) return measurement_.Without(refused);
    return MakeResult();
  }

 private:
  const v1::HttpProbe& parameters() const { return evidence_.parameters(); }
  bool proxy_resolves() const { return !proxy_.url.empty() && proxy_.resolves_names; }
  bool cancelled() const { return control_.cancelled != nullptr && control_.cancelled->load(); }
  bool Stop() const { return cancelled() || NowNs() >= measurement_.deadline_ns(); }

  int64_t DeadlineIn(absl::Duration duration) const {
    return std::min(measurement_.deadline_ns(), NowNs() + absl::ToInt64Nanoseconds(duration));
  }

  absl::StatusOr<route::ResolvedTarget> Resolve(int64_t deadline_ns) const {
    return route::ResolveTarget(target_.lookup_host, parameters().family(), request_, control_,
                                deadline_ns);
  }

  // The proxy's look-up decides, and is not ours to see: refuse at least what can be known here.
  absl::Status AskGuardAboutProxied() {
    if (!proxy_resolves()) return absl::OkStatus();
    absl::StatusOr<route::ResolvedTarget> resolved = Resolve(DeadlineIn(kProxiedLookup));
    if (absl::IsPermissionDenied(resolved.status())) return resolved.status();
    if (guard::ParseIpAddress(target_.lookup_host).has_value()) {
      evidence_.set_address(target_.lookup_host);
    }
    return absl::OkStatus();
  }

  // OK also when it was stopped early.
  absl::Status MakeRequests() {
    absl::BitGen random;
    const uint32_t count = parameters().count();
    const absl::Duration interval = FromProto(parameters().interval());
    int64_t due_ns = NowNs();
    for (uint32_t i = 0; i < count; ++i) {
      while (!Stop() && NowNs() < due_ns) {
        int64_t nap_ns = std::min(due_ns - NowNs(), absl::ToInt64Nanoseconds(kPoll));
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<int64_t>(nap_ns, 0)));
      }
      if (Stop()) break;
      absl::StatusOr<bool> made = MakeOneRequest();
      if (!made.ok()) return made.status();
      if (!*made) break;
      if (control_.progress) control_.progress(static_cast<double>(i + 1) / count);
      // A request that took longer than the interval is followed at once, not by a burst.
      int64_t step_ns =
          absl::ToInt64Nanoseconds(interval * absl::Uniform<double>(random, 0.9, 1.1));
      due_ns = std::max(due_ns + step_ns, NowNs());
    }
    return absl::OkStatus();
  }

  // False: stopped, and nothing kept. An error: the guard refused the address.
  absl::StatusOr<bool> MakeOneRequest() {
    const absl::Duration timeout = FromProto(parameters().timeout());
    const int64_t start_ns = NowNs();
    v1::HttpSample sample;
    int64_t lookup_ns = 0;
    if (!proxy_resolves()) {
      absl::StatusOr<route::ResolvedTarget> resolved = Resolve(DeadlineIn(timeout));
      lookup_ns = NowNs() - start_ns;
      if (Stop()) return false;
      if (absl::IsPermissionDenied(resolved.status()) && evidence_.address().empty()) {
        return resolved.status();
      }
      if (resolved.ok() && evidence_.address().empty()) evidence_.set_address(resolved->numeric);
      if (!resolved.ok() && !absl::IsPermissionDenied(resolved.status())) {
        bool late = absl::IsDeadlineExceeded(resolved.status());
        sample.set_outcome(late ? v1::HTTP_OUTCOME_TIMED_OUT : v1::HTTP_OUTCOME_NAME_LOOKUP);
        sample.set_error(std::string(resolved.status().message()));
        sample.set_total_ns(lookup_ns);
        Keep(start_ns, std::move(sample));
        return true;
      }
      if (request_.guard != nullptr) {
        absl::Status allowed =
            request_.guard->CheckAddress(target_.lookup_host, evidence_.address());
        if (!allowed.ok()) return allowed;
      }
    }
    HttpReply reply = PerformHttpRequest({.target = &target_,
                                          .parameters = &parameters(),
                                          .proxy = &proxy_,
                                          .address = proxy_resolves() ? "" : evidence_.address(),
                                          .timeout = timeout - absl::Nanoseconds(lookup_ns),
                                          .certificates = certificates_.get()},
                                         [this] { return Stop(); });
    if (reply.stopped) return false;
    AddLookup(lookup_ns, reply.sample);
    if (reply.certificate_not_after_s != 0) {
      evidence_.set_certificate_not_after_s(reply.certificate_not_after_s);
    }
    Keep(start_ns, std::move(reply.sample));
    return true;
  }

  void Keep(int64_t start_ns, v1::HttpSample sample) {
    sample.set_start_offset_ns(start_ns - measurement_.begin_ns());
    if (sample.total_ns() > 0) {  // curl's speed_download: over the whole time
      sample.set_speed_bytes_per_s(static_cast<double>(sample.body_bytes()) * 1e9 /
                                   static_cast<double>(sample.total_ns()));
    }
    *evidence_.add_samples() = std::move(sample);
  }

  v1::Result MakeResult() const {
    const int settled = evidence_.samples_size();
    if (settled == 0) {
      if (cancelled()) {
        return measurement_.Without(Error(absl::StatusCode::kCancelled, "probe.cancelled"));
      }
      return measurement_.Without(
          Error(absl::StatusCode::kDeadlineExceeded, "probe.too_little_time",
                {{"limit", absl::FormatDuration(request_.time_limit)},
                 {"timeout", absl::FormatDuration(FromProto(parameters().timeout()))}}));
    }
    v1::Evidence evidence;
    *evidence.mutable_http() = evidence_;
    v1::Result result = measurement_.Measured(evidence);
    (*result.mutable_versions())["curl"] = CurlVersion();
    (*result.mutable_versions())["tls"] = CurlTlsVersion();
    if (static_cast<uint32_t>(settled) < parameters().count()) {
      result.add_marks(v1::MARK_TRUNCATED);
      *result.add_notes() = MakeMessage(
          "probe.cut_short",
          {{"settled", absl::StrCat(settled)}, {"count", absl::StrCat(parameters().count())}});
    }
    if (evidence_.certificate_unchecked()) {
      *result.add_notes() = MakeMessage("probe.certificate_unchecked", {{"url", evidence_.url()}});
    }
    if (!evidence_.proxy().empty()) {
      *result.add_notes() = MakeMessage("probe.through_proxy", {{"proxy", evidence_.proxy()}});
    }
    return result;
  }

  const ProbeRequest& request_;
  const ProbeControl& control_;
  const route::Measurement measurement_;
  HttpTarget target_;
  Proxy proxy_;
  std::shared_ptr<X509_STORE> certificates_;
  v1::HttpEvidence evidence_;
};

class HttpProbeImpl : public Probe {
 public:
  absl::string_view kind() const override { return "http"; }

  v1::Capability Supported() const override {
    v1::Capability capability;
    capability.set_probe("http");
    capability.set_supported(true);
    return capability;
  }

  v1::Result Run(const ProbeRequest& request, const ProbeControl& control) override {
    return HttpRun(request, control).Run();
  }
};

}  // namespace
}  // namespace service

std::unique_ptr<Probe> MakeHttpProbe() { return std::make_unique<service::HttpProbeImpl>(); }

}  // namespace assay::agent
