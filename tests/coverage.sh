#!/bin/sh
# Line and branch coverage of reference/, fast/ and audit/ by the tests and the fuzz corpora: clang's source-based
# coverage. docs/coverage.md lists what stays uncovered, and why.
#
# Usage: tests/coverage.sh [BUILD] [ctest arguments]    (default build/coverage, every test but the slow ones)
set -eu
root=$(cd "$(dirname -- "$0")/.." && pwd)
build=${1:-$root/build/coverage}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- -LE slow
flags='-O1 -fprofile-instr-generate -fcoverage-mapping'
profiles=$build/profiles

cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
  -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" >&2
cmake --build "$build" >&2

rm -rf "$profiles"
mkdir -p "$profiles"
# %m: one file a program, merged as the runs end.
LLVM_PROFILE_FILE=$profiles/%m.profraw ctest --test-dir "$build" -j "$(getconf _NPROCESSORS_ONLN)" "$@" >&2 || true
llvm-profdata-19 merge -sparse "$profiles"/*.profraw -o "$profiles/all.profdata"

objects=$(find "$build" -type f -perm -u+x \( -name '*_test' -o -name '*_replay' -o -name attest -o -name attest-runner \
  -o -name 'libattest_*.so' \) | sed 's/^/-object=/')
# shellcheck disable=SC2086  # one word an object
llvm-cov-19 export -summary-only -instr-profile="$profiles/all.profdata" $objects 2>/dev/null >"$profiles/summary.json"
python3 - "$profiles/summary.json" "$root" <<'END'
import json
import sys

summary, root = json.load(open(sys.argv[1])), sys.argv[2]
folders, files = {}, []
for file in summary["data"][0]["files"]:
    name = file["filename"].removeprefix(root + "/")
    folder = name.split("/")[0]
    if folder not in ("reference", "fast", "audit") or "/zoo/" in name:
        continue
    totals = folders.setdefault(folder, [0, 0, 0, 0])
    numbers = [file["summary"][kind][key] for kind in ("lines", "branches") for key in ("covered", "count")]
    for at, number in enumerate(numbers):
        totals[at] += number
    files.append((numbers[1] - numbers[0], name, numbers))
percent = lambda part, whole: f"{100 * part / whole:6.2f} %" if whole else "     -"
for folder, (lines, all_lines, branches, all_branches) in sorted(folders.items()):
    print(f"{folder:10} lines {percent(lines, all_lines)} of {all_lines:6}   branches {percent(branches, all_branches)} of {all_branches:6}")
print("most uncovered lines:")
for missing, name, numbers in sorted(files, reverse=True)[:15]:
    print(f"{missing:5} of {numbers[1]:5}  {name}")
END
