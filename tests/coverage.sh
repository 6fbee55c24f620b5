#!/bin/sh
# Line and branch coverage of reference/, fast/ and audit/ by the tests and the fuzz corpora: clang's source-based
# coverage. docs/coverage.md lists what stays uncovered, and why.
#
# Usage: tests/coverage.sh [BUILD] [ctest arguments]    (default build/coverage, tests of these labels)
set -eu
root=$(cd "$(dirname -- "$0")/.." && pwd)
build=${1:-$root/build/coverage}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- -L 'unit|property|vector|fuzz' -LE nightly
flags='-O1 -fprofile-instr-generate -fcoverage-mapping'
profiles=$build/profiles

cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang-19 \
  -DCMAKE_CXX_COMPILER=clang++-19 \
  -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" >&2
# Not the proofs: the compiler runs them.
programs=$(cmake --build "$build" --target help | sed -n 's/^\([a-z0-9_]*_\(test\|replay\)\): phony$/\1/p')
# shellcheck disable=SC2086  # one word a program
cmake --build "$build" --target attest attest_runner attest_kernel $programs >&2

rm -rf "$profiles"
mkdir -p "$profiles"
# %m: one file a program, merged as the runs end.
LLVM_PROFILE_FILE=$profiles/%m.profraw ctest --test-dir "$build" -j "$(getconf _NPROCESSORS_ONLN)" "$@" >&2 || true
llvm-profdata-19 merge -sparse "$profiles"/*.profraw -o "$profiles/all.profdata"

# shellcheck disable=SC2046  # one word a program
python3 "$root/tests/coverage_report.py" "$root" "$profiles/all.profdata" $(find "$build" -type f -perm -u+x \
  \( -name '*_test' -o -name '*_replay' -o -name attest -o -name attest-runner -o -name 'libattest_*.so' \))
