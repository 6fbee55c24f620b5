#!/usr/bin/env bash
# The arm64 packages that attest needs, unpacked into a folder: what cmake/toolchains/aarch64.cmake compiles against and
# what qemu-aarch64 runs programs in. Nothing is installed, and no privilege is needed.
#
# Usage: packages/arm64_root.sh FOLDER [PACKAGE...]
#   PACKAGE  what else is to be there, such as python3
# It needs apt and dpkg, of the Debian whose packages it fetches.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: packages/arm64_root.sh FOLDER [PACKAGE...]" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
root=$(readlink -f "$1")
shift

# The libraries of these sections. The machine that builds has the compilers and tools.
names() { sed -n "/^\[$1\]/,/^\[/s/^\(lib[a-z0-9.+-]*\|catch2\|nlohmann[a-z0-9-]*\) .*/\1/p" "$here/debian.txt"; }
# shellcheck disable=SC2046
set -- libc6-dev libstdc++-12-dev $(names build) $(names test) "$@"

state=$root/var/lib/attest-apt
mkdir -p "$state/lists/partial" "$state/archives/partial"
: >"$state/status"
apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$state" \
    -o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" -o Dir::Cache="$state" \
    -o Dir::Cache::archives="$state/archives" -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
}
apt update
apt install --download-only --yes --no-install-recommends "$@"
for package in "$state"/archives/*.deb; do dpkg-deb --extract "$package" "$root"; done
rm -rf "$state"
echo "$root has the arm64 packages: cmake --preset aarch64 -DATTEST_ARM64_ROOT=$root"
