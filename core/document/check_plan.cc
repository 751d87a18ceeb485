// Windows and probes of a plan.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/document/checker.h"
#include "core/document/schema.h"
#include "core/document/units.h"
#include "core/window/civil.h"
#include "core/window/window.h"

namespace assay::document {
namespace {

constexpr int kMostWindows = 64;
constexpr int kMostIntervals = 100;  // of one window
constexpr int kMostProbes = 1'000;
constexpr uint64_t kMostRepetitions = 100'000;

absl::Status CheckLength(const Checker& checker, const std::string& path, int length, int most) {
  if (length <= most) return absl::OkStatus();
  return checker.Fail(path, "document.list_too_long", {{"most", absl::StrCat(most)}});
}

absl::Status CheckWindow(const Checker& checker, const v1::Plan& plan, const v1::Window& window,
                         const std::string& path) {
  ASSAY_RETURN_IF_ERROR(checker.Name(Join(path, "name"), window.name()));
  for (int i = 0; i < window.intervals_size(); ++i) {
    const std::string interval = Indexed(Join(path, "intervals"), i);
    // The end alone, so that each error stands at its own value.
    ASSAY_RETURN_IF_ERROR(checker.At(Join(interval, "end"),
                                     window::ParseTimeOfDay(window.intervals(i).end()).status()));
    ASSAY_RETURN_IF_ERROR(
        checker.At(Join(interval, "start"), window::ReadInterval(window.intervals(i)).status()));
  }
  for (int i = 0; i < window.excluded_dates_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(checker.At(Indexed(Join(path, "excluded_dates"), i),
                                     window::ParseDate(window.excluded_dates(i)).status()));
  }
  std::set<int> days;
  for (int i = 0; i < window.days_size(); ++i) {
    if (!days.insert(window.days(i)).second) {
      return checker.Fail(
          Indexed(Join(path, "days"), i), "document.listed_twice",
          {{"text", WordOf(*v1::Weekday_descriptor()->FindValueByNumber(window.days(i)))}});
    }
  }
  ASSAY_RETURN_IF_ERROR(
      CheckLength(checker, Join(path, "intervals"), window.intervals_size(), kMostIntervals));
  ASSAY_RETURN_IF_ERROR(checker.Zone(Join(path, "time_zone"), window.time_zone()));
  bool civil_only = !window.days().empty() || !window.excluded_dates().empty();
  if (window.has_relative() && civil_only) {
    return checker.Fail(path, "window.relative_with_days", {{"window", window.name()}});
  }
  // What is left, overlaps and missing zones, is found by the one who will read it in earnest.
  v1::Plan bare;
  bare.set_time_zone(plan.time_zone());
  ASSAY_RETURN_IF_ERROR(checker.At(path, window::Expand(window, bare, absl::UnixEpoch()).status()));
  if (window.has_relative() && plan.has_length() &&
      FromProto(window.relative().after()) >= FromProto(plan.length())) {
    return checker.Fail(
        Join(path, "relative.after"), "window.after_the_run",
        {{"window", window.name()}, {"length", WriteDuration(FromProto(plan.length()))}});
  }
  return absl::OkStatus();
}

bool AreOpenTogether(const v1::Window& a, const v1::Window& b, const v1::Plan& plan) {
  if (a.has_relative() != b.has_relative()) return false;
  if (a.has_relative()) {
    auto start = [](const v1::Window& w) { return FromProto(w.relative().after()); };
    auto end = [&](const v1::Window& w) { return start(w) + FromProto(w.relative().length()); };
    return start(a) < end(b) && start(b) < end(a);
  }
  auto zone = [&](const v1::Window& w) {
    return w.time_zone().empty() ? plan.time_zone() : w.time_zone();
  };
  return zone(a) == zone(b) && window::FindOverlap(a, b).has_value();
}

bool IsPair(v1::WindowRole a, v1::WindowRole b) {
  return (a == v1::WINDOW_ROLE_PEAK && b == v1::WINDOW_ROLE_OFF_PEAK) ||
         (a == v1::WINDOW_ROLE_OFF_PEAK && b == v1::WINDOW_ROLE_PEAK);
}

// Times that the probes share.
template <typename Kind>
absl::Status CheckTimes(const Checker& checker, const Kind& kind, const std::string& path,
                        uint32_t most_count) {
  if (!kind.target().empty()) {
    ASSAY_RETURN_IF_ERROR(checker.Host(Join(path, "target"), kind.target()));
  }
  ASSAY_RETURN_IF_ERROR(checker.Range(Join(path, "count"), kind.count(), 0, most_count));
  const struct {
    const char* key;
    bool given;
    absl::Duration value;
    absl::Duration most;
  } times[] = {
      {"interval", kind.has_interval(), FromProto(kind.interval()), absl::Hours(1)},
      {"timeout", kind.has_timeout(), FromProto(kind.timeout()), absl::Minutes(10)},
  };
  for (const auto& time : times) {
    if (!time.given || (time.value >= absl::Milliseconds(1) && time.value <= time.most)) continue;
    return checker.Fail(Join(path, time.key), "document.out_of_range",
                        {{"text", WriteDuration(time.value)},
                         {"least", "1ms"},
                         {"most", WriteDuration(time.most)}});
  }
  return absl::OkStatus();
}

absl::Status CheckIcmp(const Checker& checker, const v1::IcmpProbe& icmp, const std::string& path) {
  ASSAY_RETURN_IF_ERROR(CheckTimes(checker, icmp, path, 100'000));
  if (icmp.payload_bytes() != 0) {
    ASSAY_RETURN_IF_ERROR(checker.Range(Join(path, "payload"), icmp.payload_bytes(), 16, 65'000));
  }
  return checker.Range(Join(path, "dscp"), icmp.dscp(), 0, 63);
}

absl::Status CheckTcp(const Checker& checker, const v1::TcpProbe& tcp, const std::string& path) {
  ASSAY_RETURN_IF_ERROR(CheckTimes(checker, tcp, path, 10'000));
  return checker.Range(Join(path, "port"), tcp.port(), 1, 65'535);
}

absl::Status CheckHttp(const Checker& checker, const v1::HttpProbe& http, const std::string& path) {
  ASSAY_RETURN_IF_ERROR(CheckTimes(checker, http, path, 10'000));
  if (!http.scheme().empty() && http.scheme() != "http" && http.scheme() != "https") {
    return checker.Fail(Join(path, "scheme"), "document.unknown_word_of",
                        {{"text", http.scheme().substr(0, 60)}, {"known", "http, https"}});
  }
  ASSAY_RETURN_IF_ERROR(checker.Range(Join(path, "port"), http.port(), 0, 65'535));
  bool printable = std::all_of(http.path().begin(), http.path().end(),
                               [](char c) { return c > ' ' && c <= '~'; });
  if (!http.path().empty() && (http.path()[0] != '/' || !printable)) {
    return checker.Fail(Join(path, "path"), "document.bad_path",
                        {{"text", http.path().substr(0, 60)}});
  }
  for (int i = 0; i < http.expect_status_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        checker.Range(Indexed(Join(path, "expect_status"), i), http.expect_status(i), 100, 599));
  }
  return http.host_name().empty() ? absl::OkStatus()
                                  : checker.Host(Join(path, "host_name"), http.host_name());
}

absl::Status CheckSelector(const Checker& checker, const v1::Plan& plan, const v1::Probe& probe,
                           const std::string& path) {
  const v1::VantageSelector& from = probe.from();
  bool others = !from.kinds().empty() || !from.vantages().empty() || !from.carriers().empty();
  if (from.server() && others) {
    return checker.Fail(path, "document.server_combined", {{"probe", probe.name()}});
  }
  if (!from.server() && plan.vantages().empty()) {
    return checker.Fail(path, "document.no_vantages", {{"probe", probe.name()}});
  }
  for (int i = 0; i < from.vantages_size(); ++i) {
    const auto& known = plan.vantages();
    if (std::find(known.begin(), known.end(), from.vantages(i)) == known.end()) {
      return checker.Fail(Indexed(Join(path, "vantages"), i), "document.no_such_vantage",
                          {{"text", from.vantages(i)}, {"known", absl::StrJoin(known, ", ")}});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProbe(const Checker& checker, const v1::Plan& plan, const v1::Probe& probe,
                        const std::string& path) {
  ASSAY_RETURN_IF_ERROR(checker.Name(Join(path, "name"), probe.name()));
  if (probe.has_icmp()) {
    ASSAY_RETURN_IF_ERROR(CheckIcmp(checker, probe.icmp(), Join(path, "icmp")));
  }
  if (probe.has_tcp()) ASSAY_RETURN_IF_ERROR(CheckTcp(checker, probe.tcp(), Join(path, "tcp")));
  if (probe.has_http()) {
    ASSAY_RETURN_IF_ERROR(CheckHttp(checker, probe.http(), Join(path, "http")));
  }
  ASSAY_RETURN_IF_ERROR(CheckSelector(checker, plan, probe, Join(path, "from")));
  std::vector<std::string> known;
  for (const v1::Window& window : plan.windows()) known.push_back(window.name());
  std::set<std::string> seen;
  for (int i = 0; i < probe.windows_size(); ++i) {
    const std::string place = Indexed(Join(path, "windows"), i);
    if (std::find(known.begin(), known.end(), probe.windows(i)) == known.end()) {
      return checker.Fail(place, "document.no_such_window",
                          {{"text", probe.windows(i)}, {"known", absl::StrJoin(known, ", ")}});
    }
    if (!seen.insert(probe.windows(i)).second) {
      return checker.Fail(place, "document.listed_twice", {{"text", probe.windows(i)}});
    }
  }
  return checker.Range(Join(path, "repetitions"), probe.repetitions(), 0, kMostRepetitions);
}

}  // namespace

absl::Status CheckWindows(const Checker& checker, const v1::Plan& plan) {
  ASSAY_RETURN_IF_ERROR(checker.Zone("time_zone", plan.time_zone()));
  ASSAY_RETURN_IF_ERROR(checker.At("length", window::RunLength(plan).status()));
  ASSAY_RETURN_IF_ERROR(CheckLength(checker, "windows", plan.windows_size(), kMostWindows));
  std::set<std::string> names;
  for (int i = 0; i < plan.windows_size(); ++i) {
    const v1::Window& window = plan.windows(i);
    const std::string path = Indexed("windows", i);
    ASSAY_RETURN_IF_ERROR(CheckWindow(checker, plan, window, path));
    if (!names.insert(window.name()).second) {
      return checker.Fail(Join(path, "name"), "document.listed_twice", {{"text", window.name()}});
    }
    for (int j = 0; j < i; ++j) {
      const v1::Window& other = plan.windows(j);
      if (IsPair(window.role(), other.role()) && AreOpenTogether(window, other, plan)) {
        return checker.Fail(path, "window.peak_and_off_peak",
                            {{"first", other.name()}, {"second", window.name()}});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProbes(const Checker& checker, const v1::Plan& plan) {
  ASSAY_RETURN_IF_ERROR(CheckLength(checker, "probes", plan.probes_size(), kMostProbes));
  std::set<std::string> names;
  for (int i = 0; i < plan.probes_size(); ++i) {
    const std::string path = Indexed("probes", i);
    ASSAY_RETURN_IF_ERROR(CheckProbe(checker, plan, plan.probes(i), path));
    if (!names.insert(plan.probes(i).name()).second) {
      return checker.Fail(Join(path, "name"), "document.listed_twice",
                          {{"text", plan.probes(i).name()}});
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::document
