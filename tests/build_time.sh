#!/usr/bin/env bash
# What a fresh clone costs to build, in processor seconds: up to the first verdict (`./attest audit`), the whole tree, and
# each unit. docs/build.md has the results.
# tests/build_time.sh [COMMIT ...]     default: HEAD; each in a clone of its own, in turn, without ccache
#
# Processor time and not the clock's: other work on the machine makes it longer by its share of the caches alone.
set -euo pipefail

# As the compiler's launcher: runs the compiler and writes down its seconds and its object.
if [ "${1-}" = --unit ]; then
  shift
  TIMEFORMAT='%U %S'
  exec 3>&1 4>&2
  status=0
  spent=$({ time "$@" >&3 2>&4; } 2>&1) || status=$?
  while [ $# -gt 0 ] && [ "$1" != -o ]; do shift; done
  echo "$spent ${2-?}" >>"$ATTEST_BUILD_LOG"
  exit $status
fi

# spent FILE COMMAND...: the processor seconds of the command and its children; its output goes to FILE.
spent() {
  local file=$1
  shift
  TIMEFORMAT='%U %S'
  { time "$@" >"$file" 2>&1; } 2>&1 | awk '{ printf "%.0f\n", $1 + $2 }'
}

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- HEAD
for commit in "$@"; do
  clone=$scratch/$(git -C "$root" rev-parse --short "$commit")
  git clone --quiet "$root" "$clone"
  git -C "$clone" checkout --quiet "$(git -C "$root" rev-parse "$commit")"
  export ATTEST_BUILD_LOG=$clone.units CMAKE_C_COMPILER_LAUNCHER="$script;--unit" CMAKE_CXX_COMPILER_LAUNCHER="$script;--unit"
  first=$(spent "$clone.first" "$clone/attest" audit --seed 1) || { tail "$clone.first"; exit 1; }
  echo "$commit: first verdict $first s"
  rest=$(spent "$clone.rest" cmake --build "$clone/build/release") || { tail "$clone.rest"; exit 1; }
  echo "$commit: whole tree $((first + rest)) s; the units from 2 s:"
  sort "$ATTEST_BUILD_LOG" | awk '$1 + $2 >= 2 { sub(/CMakeFiles\//, "", $3); printf "%6.1f  %s\n", $1 + $2, $3 }' | sort -rn
done
