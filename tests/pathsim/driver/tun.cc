#include "tests/pathsim/driver/tun.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "tests/pathsim/driver/name_space.h"

namespace assay::pathsim {
namespace {

constexpr char kDevice[] = "path0";

// The address with the bits behind `prefix` cleared: `ip` wants routes so.
Address NetworkOf(const HostAddress& entry) {
  Address network = entry.address;
  for (int bit = entry.prefix; bit < 128; ++bit) {
    network.bytes[static_cast<size_t>(bit / 8)] &= static_cast<uint8_t>(~(0x80 >> bit % 8));
  }
  return network;
}

absl::Status SetKernel(const std::string& key, const std::string& value) {
  std::string file = absl::StrCat("/proc/sys/net/", key);
  Descriptor out(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (out.ok() &&
      write(out.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write '", value, "' to ", file));
}

absl::StatusOr<Descriptor> OpenDevice() {
  Descriptor device(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!device.ok()) return absl::ErrnoToStatus(errno, "cannot open /dev/net/tun");
  ifreq request = {};
  std::strncpy(request.ifr_name, kDevice, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(device.get(), TUNSETIFF, &request) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a TUN device");
  }
  return device;
}

absl::Status SetUpDevice(const std::string& name_space, const HostSettings& host) {
  auto ip = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-n", name_space});
    return RunIp(arguments);
  };
  // First quiet, then up: a link-local address would make the kernel send packets of its own.
  ASSAY_RETURN_IF_ERROR(ip({"link", "set", "dev", kDevice, "addrgenmode", "none", "txqueuelen",
                            "10000", "mtu", absl::StrCat(host.mtu)}));
  ASSAY_RETURN_IF_ERROR(ip({"link", "set", "dev", kDevice, "up"}));
  std::set<int> versions;
  for (const HostAddress& entry : host.addresses) {
    const int version = entry.address.version;
    const int longest = version == 4 ? 32 : 128;
    const std::string family = version == 4 ? "-4" : "-6";
    const std::string address = AddressText(entry.address);
    if (entry.prefix < longest) {
      // The whole prefix is this host's.
      std::string prefix = absl::StrCat(AddressText(NetworkOf(entry)), "/", entry.prefix);
      ASSAY_RETURN_IF_ERROR(ip({family, "route", "add", "local", prefix, "dev", "lo"}));
    }
    std::vector<std::string> add = {family, "addr", "add", absl::StrCat(address, "/", longest),
                                    "dev",  kDevice};
    if (version == 6) add.push_back("nodad");
    ASSAY_RETURN_IF_ERROR(ip(add));
    if (!versions.insert(version).second) continue;
    ASSAY_RETURN_IF_ERROR(ip({family, "route", "add", "default", "dev", kDevice, "src", address}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tun> Tun::Create(const std::string& name_space, const HostSettings& host) {
  absl::StatusOr<Descriptor> device = absl::UnknownError("");
  ASSAY_RETURN_IF_ERROR(RunInNameSpace(name_space, [&]() -> absl::Status {
    for (auto [key, value] : {std::pair("ipv4/icmp_ratelimit", "0"),
                              {"ipv4/icmp_ratemask", "0"},
                              {"ipv6/icmp/ratelimit", "0"},
                              // Hosts of a path with two ways see packets come as they may.
                              {"ipv4/conf/all/rp_filter", "0"},
                              {"ipv4/conf/default/rp_filter", "0"},
                              {"ipv6/conf/default/router_solicitations", "0"},
                              {"ipv6/conf/default/accept_ra", "0"}}) {
      ASSAY_RETURN_IF_ERROR(SetKernel(key, value));
    }
    device = OpenDevice();
    return device.status();
  }));
  ASSAY_RETURN_IF_ERROR(SetUpDevice(name_space, host));
  absl::StatusOr<SendTimes> times = absl::UnknownError("");
  ASSAY_RETURN_IF_ERROR(RunInNameSpace(name_space, [&] {
    times = SendTimes::Open(kDevice);
    return times.status();
  }));
  return Tun(*std::move(device), *std::move(times));
}

std::optional<Tun::Packet> Tun::Read() {
  ssize_t got = read(device_.get(), buffer_.data(), buffer_.size());
  if (got <= 0) return std::nullopt;
  Packet packet;
  packet.bytes.assign(buffer_.begin(), buffer_.begin() + got);
  SendTimes::Match match = times_.Find(packet.bytes);
  packet.sent = match.sent;
  packet.dropped_before = match.dropped;
  return packet;
}

absl::Status Tun::Write(ByteView packet) {
  if (write(device_.get(), packet.data(), packet.size()) == static_cast<ssize_t>(packet.size())) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "a host's device refused a packet");
}

}  // namespace assay::pathsim
