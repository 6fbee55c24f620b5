#!/usr/bin/env bash
# What a fresh clone costs to build, in processor seconds: up to the first verdict (`./attest audit`, its run included),
# the whole tree, a Python wheel, a fuzz target (where clang++-19 is installed), and each unit. docs/build.md has the
# results.
# tests/build_time.sh [COMMIT ...]     default: HEAD; each in a clone of its own, in turn, without ccache
# STEPS="first wheel" tests/build_time.sh     only these of: first whole wheel fuzz
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

# measure NAME COMMAND...: prints the processor seconds of the command and the number of units that it compiled.
measure() {
  local name=$1 seconds
  shift
  : >"$ATTEST_BUILD_LOG"
  seconds=$(spent "$clone.log" "$@") || { tail "$clone.log"; exit 1; }
  echo "$commit: $name $seconds s, $(grep '\.o$' "$ATTEST_BUILD_LOG" | grep -vc cmTC_) units"
  cat "$ATTEST_BUILD_LOG" >>"$clone.units"
}

whole_tree() { cmake --build "$clone/build/release"; }
wheel() {  # what `pip install .` has CMake do
  cmake -G Ninja -S "$clone" -B "$clone/build/wheel" -DCMAKE_BUILD_TYPE=Release -DATTEST_WHEEL=ON &&
    cmake --build "$clone/build/wheel" --target attest_wheel
}
fuzz_target() {
  cmake -S "$clone" --preset fuzz && cmake --build "$clone/build/fuzz" --target "fuzz_$1"
}

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- HEAD
steps=" ${STEPS-first whole wheel fuzz} "
command -v clang++-19 >/dev/null || steps=${steps/ fuzz / }
for commit in "$@"; do
  clone=$scratch/$(git -C "$root" rev-parse --short "$commit")
  git clone --quiet "$root" "$clone"
  git -C "$clone" checkout --quiet "$(git -C "$root" rev-parse "$commit")"
  export ATTEST_BUILD_LOG=$clone.step CMAKE_C_COMPILER_LAUNCHER="$script;--unit" \
    CMAKE_CXX_COMPILER_LAUNCHER="$script;--unit"
  case $steps in *" first "*) measure "first verdict" "$clone/attest" audit --seed 1 ;; esac
  case $steps in *" whole "*) measure "the rest of the tree" whole_tree ;; esac
  echo "$commit: the units from 2 s:"
  sort "$clone.units" | awk '$1 + $2 >= 2 { sub(/CMakeFiles\//, "", $3); printf "%6.1f  %s\n", $1 + $2, $3 }' | sort -rn
  case $steps in *" wheel "*) measure "wheel" wheel ;; esac
  case $steps in *" fuzz "*)
    measure "fuzz cli" fuzz_target cli
    measure "fuzz kernel_vs_reference, after that" fuzz_target kernel_vs_reference
    ;;
  esac
done
