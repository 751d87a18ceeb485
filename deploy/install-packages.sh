#!/usr/bin/env bash
# Installs the Debian 12 packages that Assay needs and that are not there yet.
#   deploy/install-packages.sh build            to build and run it
#   deploy/install-packages.sh build test       and to run every test
set -euo pipefail

build=(
  build-essential cmake ninja-build pkg-config ccache mold git ca-certificates
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libabsl-dev
  libssl-dev libsqlite3-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libspdlog-dev
  libcurl4-openssl-dev libboost-dev libzstd-dev tzdata
)
# nginx-light: a service to probe. libcap2-bin: lets the agent send echo requests without root.
run=(nginx-light libcap2-bin)
test=(
  libgtest-dev libgmock-dev clang clang-format clang-tidy libclang-rt-14-dev
  iproute2 iputils-ping nftables util-linux openssl curl faketime python3 sqlite3 procps
)

wanted=()
for group in "$@"; do
  case "$group" in
    build) wanted+=("${build[@]}" "${run[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    *)
      echo "usage: $0 build|test ..." >&2
      exit 2
      ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "This is not Debian: install the equivalents of: ${missing[*]}" >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Installing packages needs root: run this as root, or install sudo." >&2
    exit 1
  fi
  sudo=(sudo)
fi
echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# A policy that answers 101 keeps packages from starting services (nginx) on this host.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee "$policy" >/dev/null
  "${sudo[@]}" chmod 755 "$policy"
  trap '"${sudo[@]}" rm -f "$policy"' EXIT
fi
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
