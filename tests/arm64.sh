#!/usr/bin/env bash
# attest on 64-bit ARM, on a machine that is none: cross-compiled, and run by qemu. It compiles the program and all the
# tests' kernels, and audits the built-in kernel and two kernels of the zoo. Then it runs the unit and property tests of
# the problem, the reference, the machine tier, the kernel and the judge.
#
# Usage: tests/arm64.sh [BUILD]
#   BUILD  the folder of builds (default: build); it gets arm64, the packages, and aarch64, the build
# Exit status: 0 if all is well, 77 if this machine lacks what it takes.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
mkdir -p "${1-build}"
build=$(readlink -f "${1-build}")

skip() { echo "skipped: $*"; exit 77; }
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v $tool >/dev/null || skip "no $tool here: ./attest setup arm64"
done
command -v apt-get >/dev/null || skip "the arm64 packages are fetched by apt, which is not here"

# Also what some tests compare the numbers with (section [ci] of packages/debian.txt).
[ -d "$build/arm64/usr" ] || packages/arm64_root.sh "$build/arm64" libmpfr-dev libmpfi-dev libflint-arb-dev
# A kernel's process asks for the largest range of addresses, and qemu marks each page of it: 32 GiB are enough.
export QEMU_LD_PREFIX QEMU_RESERVED_VA=0x800000000
QEMU_LD_PREFIX=$build/arm64
[ -f "$build/aarch64/build.ninja" ] ||
  cmake --preset aarch64 -B "$build/aarch64" -DATTEST_ARM64_ROOT="$QEMU_LD_PREFIX" ${ATTEST_CMAKE-}
cmake --build "$build/aarch64" --target attest attest_runner attest_kernel attest_zoo attest_hostile_kernels \
  attest_test_kernels

# attest starts attest-runner. The kernel of this machine need not know how to start a program for ARM: a script does.
export ATTEST_RUNNER=$build/aarch64/bin/attest-runner-by-qemu
cat >"$ATTEST_RUNNER" <<END
#!/bin/sh
exec qemu-aarch64 "$build/aarch64/bin/attest-runner" "\$@"
END
chmod +x "$ATTEST_RUNNER"

audit() { # EXIT-STATUS [ARGUMENT...]
  local expected=$1 status=0
  shift
  qemu-aarch64 "$build/aarch64/bin/attest" audit --quick --draws 0 --seed 1 --findings '' "$@" || status=$?
  [ $status = "$expected" ] || { echo "the audit ended with $status, expected $expected: $*"; exit 1; }
}
audit 0 --verbose
audit 0 --kernel "$build/aarch64/bin/libattest_zoo.so:zoo_operator_decoding"
audit 1 --kernel "$build/aarch64/bin/libattest_zoo.so:zoo_length_ignored"

rooms="problem reference machine fast audit/judge"
# fast_backward.unit takes more than half an hour: the properties of gradients are asked.
chosen=(-L 'unit|property' -LE 'slow|nightly|differential' -E '^fast_backward\.unit$')
for room in $rooms; do
  ctest --test-dir "$build/aarch64/tests/$room" -N "${chosen[@]}" |
    sed -n 's/^ *Test *#[0-9]*: //p'
done | sort -u >"$build/aarch64/chosen.txt"
awk -F '\t' 'NR == FNR { chosen[$1]; next } $1 in chosen && !$3 { print $2 }' \
  "$build/aarch64/chosen.txt" "$build/aarch64/tests/registered.txt" |
  tr ' ' '\n' | sort -u | xargs cmake --build "$build/aarch64" --target
export RC_PARAMS=max_success=25 # of each property: qemu takes twenty times as long
for room in $rooms; do
  ctest --test-dir "$build/aarch64/tests/$room" -j 2 "${chosen[@]}" --output-on-failure --no-tests=error
done
