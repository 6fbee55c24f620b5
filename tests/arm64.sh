#!/usr/bin/env bash
# attest on 64-bit ARM, on a machine that is none: cross-compiled, and run by qemu. It audits the built-in kernel, then
# runs the unit and property tests of the problem, the reference, the machine tier, the kernel and the judge.
#
# Usage: tests/arm64.sh [BUILD]
#   BUILD  the folder of builds (default: build); it gets arm64, the packages, and aarch64, the build
# Exit status: 0 if all is well, 77 if this machine lacks what it takes.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
build=${1-build}

skip() { echo "skipped: $*"; exit 77; }
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v $tool >/dev/null || skip "no $tool here: ./attest setup arm64"
done
command -v apt-get >/dev/null || skip "the arm64 packages are fetched by apt, which is not here"

[ -d "$build/arm64/usr" ] || packages/arm64_root.sh "$build/arm64"
# A kernel's process asks for the largest range of addresses, and qemu marks each page of it: 32 GiB are enough.
export QEMU_LD_PREFIX QEMU_RESERVED_VA=0x800000000
QEMU_LD_PREFIX=$(readlink -f "$build/arm64")
[ -f "$build/aarch64/build.ninja" ] ||
  cmake --preset aarch64 -B "$build/aarch64" -DATTEST_ARM64_ROOT="$QEMU_LD_PREFIX" ${ATTEST_CMAKE-}
cmake --build "$build/aarch64" --target attest attest_runner attest_kernel

# attest starts attest-runner, which only the kernel of this machine can hand to qemu.
if "$build/aarch64/bin/attest-runner" >/dev/null 2>&1 || [ $? -ne 126 ]; then
  "$build/aarch64/bin/attest" audit --quick --draws 0 --seed 1 --findings '' --verbose
else
  echo "no audit: programs for ARM do not run by themselves here (qemu-user-binfmt registers qemu with the kernel)"
fi

rooms="problem reference machine fast audit/judge"
for room in $rooms; do
  ctest --test-dir "$build/aarch64/tests/$room" -N -L 'unit|property' -LE 'nightly|differential' |
    sed -n 's/^ *Test *#[0-9]*: //p'
done | sort -u >"$build/aarch64/chosen.txt"
awk -F '\t' 'NR == FNR { chosen[$1]; next } $1 in chosen && !$3 { print $2 }' \
  "$build/aarch64/chosen.txt" "$build/aarch64/tests/registered.txt" |
  tr ' ' '\n' | sort -u | xargs cmake --build "$build/aarch64" --target
for room in $rooms; do
  ctest --test-dir "$build/aarch64/tests/$room" -j 2 -L 'unit|property' -LE 'nightly|differential' \
    --output-on-failure --no-tests=error
done
