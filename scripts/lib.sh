# shellcheck shell=bash disable=SC2034
# lib.sh - what the scripts share: installing the Debian packages that are missing, and building.
# A script sets `set -u`, sources this, and runs from any directory; ROOT is the top of the tree.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 1

# What the build needs. a|b: one of them will do, and the first is installed when there is none.
BUILD_PACKAGES="gcc|clang libc6-dev cmake ninja-build|make pkg-config|pkgconf redis-server libhiredis-dev libcjson-dev
  uuid-dev libconfig-dev libssl-dev libmicrohttpd-dev libcrypt-dev gzip lua5.1 libncurses-dev libseccomp-dev"
# What the tests need besides.
TEST_PACKAGES="libcmocka-dev redis-tools procps g++ binutils abigail-tools clang-format-14 openssl tzdata mandoc zsh fish
  tmux perl-base systemd curl locales"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$(basename "$0"): $*"
  exit 1
}

# quietly LOG COMMAND...: shows the output only when the command fails.
quietly() {
  local log=$1
  shift
  if "$@" </dev/null >"$log" 2>&1; then return 0; fi
  cat "$log" >&2
  return 1
}

# ---- packages ---------------------------------------------------------------------------------------------------------

is_installed() {
  case $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) in
  ii*) return 0 ;;
  *) return 1 ;;
  esac
}

# missing_packages PACKAGE...: prints those to install.
missing_packages() {
  local group one found
  for group in "$@"; do
    found=
    for one in ${group//|/ }; do
      if is_installed "$one"; then found=1; fi
    done
    [ -n "$found" ] || printf '%s ' "${group%%|*}"
  done
}

# find_root: how to run something as root goes into AS_ROOT; fails when nothing makes that possible.
AS_ROOT=()
find_root() {
  if [ "$(id -u)" = 0 ]; then return 0; fi
  command -v sudo >/dev/null || return 1
  AS_ROOT=(sudo)
  sudo -n true 2>/dev/null || { [ -t 0 ] && sudo true; }
}

# Debian starts a service as soon as its package is installed, unless this file says no.
POLICY=/usr/sbin/policy-rc.d

apt_install() (
  log=$(mktemp) || exit 1
  trap 'rm -f "$log"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if [ ! -e "$POLICY" ]; then
    trap '"${AS_ROOT[@]}" rm -f "$POLICY"; rm -f "$log"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${AS_ROOT[@]}" tee "$POLICY" >/dev/null &&
      "${AS_ROOT[@]}" chmod 755 "$POLICY" || exit 1
  fi
  quietly "$log" "${AS_ROOT[@]}" apt-get update -q &&
    quietly "$log" "${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=120 "$@"
)

# need_packages PACKAGE...: installs what is missing, or says what to install and ends.
need_packages() {
  local missing
  command -v dpkg-query >/dev/null || return 0 # no Debian: the build will say what it lacks
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  say "installing: $missing"
  # shellcheck disable=SC2086
  if find_root && apt_install $missing; then return 0; fi
  say "$(basename "$0"): packages are missing and could not be installed from here. As root:"
  say "    apt-get install $missing"
  exit 1
}

# need_browser DIR: what tests/system/st_browser.sh needs: Debian's Chromium, and the packages of tests/web/package.json, which go to
# DIR/browser.
need_browser() {
  local dir=$1/browser log=$1/npm.log
  local packages=(chromium)
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then packages+=(nodejs npm); fi
  (need_packages "${packages[@]}") || {
    say "the tests in a browser are skipped"
    return 0
  }
  mkdir -p "$dir" || exit 1
  if [ -d "$dir/node_modules" ] && cmp -s "$ROOT/tests/web/package-lock.json" "$dir/package-lock.json"; then return 0; fi
  cp "$ROOT/tests/web/package.json" "$dir/" || exit 1
  cp "$ROOT/tests/web/package-lock.json" "$dir/" || exit 1
  (cd "$dir" && quietly "$log" npm ci --ignore-scripts --no-audit --no-fund) || {
    rm -rf "$dir/package-lock.json"
    say "cannot install the packages of tests/web/package.json: the tests in a browser are skipped"
  }
}

# need_promtool DIR: Prometheus's checker goes to DIR/tools/promtool. Its package is not installed, since it has a service.
need_promtool() {
  local dir=$1/tools
  [ ! -x "$dir/promtool" ] || return 0
  mkdir -p "$dir/package" || exit 1
  if ! (cd "$dir/package" && quietly "$1/promtool.log" apt-get download prometheus); then
    find_root && quietly "$1/promtool.log" "${AS_ROOT[@]}" apt-get update -q
    (cd "$dir/package" && quietly "$1/promtool.log" apt-get download prometheus)
  fi
  if ! dpkg-deb -x "$dir"/package/prometheus_*.deb "$dir/package" || ! mv "$dir/package/usr/bin/promtool" "$dir/promtool"; then
    say "cannot fetch Debian's package prometheus: the tests with promtool are skipped"
  fi
  rm -rf "$dir/package"
}

# ---- building ---------------------------------------------------------------------------------------------------------

jobs_here() { nproc 2>/dev/null || echo 2; }

# configured DIR: whether DIR was configured for this tree (a copied build directory is of no use).
configured() {
  [ -f "$1/CMakeCache.txt" ] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$1/CMakeCache.txt"
}

# configure DIR [CMAKE OPTION...]: ends the script with the log when that fails.
configure() {
  local dir=$1 generator=()
  shift
  mkdir -p "$dir" || exit 1
  if ! configured "$dir"; then
    rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
    if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  fi
  quietly "$dir/configure.log" cmake -S "$ROOT" -B "$dir" "${generator[@]}" "$@" || die "cannot configure $dir"
}

# build DIR [TARGET...]: all of it, or these targets; ends the script with the log when that fails.
build() {
  local dir=$1
  shift
  quietly "$dir/build.log" cmake --build "$dir" --parallel "$(jobs_here)" ${1:+--target "$@"} || die "cannot build $dir"
}
