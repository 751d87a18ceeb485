#!/usr/bin/env bash
# From a fresh Debian 12 and a checkout to a verdict: installs what is missing, builds, and tests this
# machine from itself: a coordinator and two agents as processes of their own, with mutual TLS.
#   deploy/quickstart.sh [--lang zh|en]
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/install-packages.sh build

jobs=$(nproc)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
log=build/quickstart-build.log
mkdir -p build
echo "Building (a few minutes the first time; log: $log)"
if ! { cmake --preset release -DASSAY_TESTS=OFF && cmake --build --preset release -j "$jobs"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "The build failed; the whole log is in $log" >&2
  exit 1
fi
bin=build/release/bin

# Echo requests need a raw socket where the kernel's ping group range is closed (Debian's default).
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then
  sudo setcap cap_net_raw+ep "$bin/assay-agent" || true
fi

# A real web server to probe, on loopback only, with files of its own.
web=$(mktemp -d)
cleanup() {
  [ -f "$web/nginx.pid" ] && kill "$(cat "$web/nginx.pid")" 2>/dev/null || true
  rm -rf "$web"
}
trap cleanup EXIT
head -c 200000 /dev/urandom >"$web/index.html"
cat >"$web/nginx.conf" <<CONF
pid $web/nginx.pid;
error_log $web/error.log;
worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path $web/body;
  proxy_temp_path $web/proxy;
  fastcgi_temp_path $web/fastcgi;
  uwsgi_temp_path $web/uwsgi;
  scgi_temp_path $web/scgi;
  server { listen 127.0.0.1:18080; root $web; }
}
CONF
chmod 755 "$web"
nginx=$(command -v nginx || echo /usr/sbin/nginx)
if ! "$nginx" -c "$web/nginx.conf" -e "$web/error.log"; then
  echo "The web server to be probed could not start; is port 18080 of 127.0.0.1 in use?" >&2
  exit 1
fi

status=0
"$bin/assay" local -f deploy/examples/quickstart.yaml "$@" || status=$?
exit "$status"
