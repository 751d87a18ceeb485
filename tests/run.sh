#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test:
#   format, the release build with all tests (system tests in network namespaces among them), the same
#   unit tests under address+undefined sanitizers, the threaded ones under the thread sanitizer, and a
#   short run of every fuzz target.
#   tests/run.sh [STEP...]   only these: format release asan tsan fuzz, and tidy (clang-tidy over all
#                            files, some ten minutes on two cores, which the whole run leaves out)
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/install-packages.sh build test
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(format release asan tsan fuzz)
jobs=$(nproc)
# Objects of another checkout of the same sources serve here too, where ccache is used.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
seconds=${ASSAY_FUZZ_SECONDS:-5}

sources() { git ls-files -co --exclude-standard -- '*.cc' '*.h' | while read -r f; do [ -f "$f" ] && echo "$f"; done; }
# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"build/$preset-configure.log" 2>&1 || { cat "build/$preset-configure.log"; return 1; }
  cmake --build --preset "$preset" -j "$jobs" ${@:+--target "$@"} -- --quiet
}

step_format() { sources | xargs clang-format --dry-run --Werror; }
step_release() {
  build release
  ctest --preset release -j "$jobs"
}
step_asan() {
  build asan
  ctest --preset asan -j "$jobs" -LE system
}
step_tsan() {
  build tsan threads_tests
  ctest --preset tsan -j "$jobs" -L threads
}
step_tidy() {
  # Over the release build's unity files: the headers are read once a library instead of once a file.
  cmake --preset release >/dev/null
  cmake --build --preset release -j "$jobs" --target assay_services -- --quiet
  tests/tidy.py build/release "$jobs"
}
step_fuzz() {
  build fuzz
  for target in build/fuzz/fuzz/*_fuzz; do
    name=$(basename "$target")
    corpus=tests/fuzz/corpus/${name%_fuzz}
    work=$(mktemp -d)
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
      -artifact_prefix="build/fuzz/$name-" -verbosity=0 "$work" $([ -d "$corpus" ] && echo "$corpus") ||
      { echo "fuzz target $name failed; see build/fuzz/$name-*"; return 1; }
    rm -rf "$work"
  done
}

mkdir -p build
for step in "${steps[@]}"; do
  echo "== $step"
  start=$SECONDS
  "step_$step"
  echo "== $step: passed in $((SECONDS - start)) s"
done
