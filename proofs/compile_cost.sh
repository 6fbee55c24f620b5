#!/usr/bin/env bash
# What each proof costs to compile: seconds and MiB, per compiler, against the limits.
# proofs/compile_cost.sh [compiler ...]      default: g++ and clang++-19; prints a Markdown table; 1 where a limit is passed
# proofs/compile_cost.sh --flags compiler    the options that attest::reference gives its users
set -u
seconds_limit=60 mebibytes_limit=2048 total_limit=240
root=$(cd "$(dirname "$0")/.." && pwd)

flags() {
  grep -oE -- '-f(fp-contract|constexpr)[a-z-]*=[a-z0-9]+' "$root/reference/CMakeLists.txt" |
    case $1 in *clang*) grep -vE 'ops-limit|loop-limit' ;; *) grep -v 'constexpr-steps' ;; esac
}

if [ "${1:-}" = --flags ]; then
  flags "$2"
  exit
fi
compilers=("$@")
[ $# -gt 0 ] || compilers=(g++ clang++-19)

# Highest resident set of process $1 and its children, in KiB, until it ends. VmHWM is itself a maximum, so that only
# what is allocated in the last instant can be missed.
watch() {
  local most=0 now pid
  while kill -0 "$1" 2>/dev/null; do
    for pid in "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
      now=$(awk '/^VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null)
      [ "${now:-0}" -gt "$most" ] && most=$now
    done
    sleep 0.02
  done
  echo "$most"
}

failed=0
echo "| proof | compiler | seconds | MiB |"
echo "|---|---|---|---|"
for compiler in "${compilers[@]}"; do
  command -v "$compiler" >/dev/null || { echo "compile_cost: no $compiler" >&2; failed=1; continue; }
  total=0
  for proof in $(grep -oE '^  [a-z0-9_/]+_proof\.cpp' "$root/proofs/CMakeLists.txt"); do
    started=$(date +%s%N)
    # shellcheck disable=SC2046
    "$compiler" -std=c++20 -fsyntax-only $(flags "$compiler") -I "$root" "$root/proofs/$proof" &
    compiling=$!
    most=$(watch "$compiling")
    wait "$compiling" || { echo "compile_cost: $proof does not compile" >&2; failed=1; }
    tenths=$((($(date +%s%N) - started) / 100000000))
    total=$((total + tenths))
    echo "| $proof | $compiler | $((tenths / 10)).$((tenths % 10)) | $((most / 1024)) |"
    if [ $tenths -gt $((seconds_limit * 10)) ] || [ "$most" -gt $((mebibytes_limit * 1024)) ]; then
      echo "compile_cost: $proof passes $seconds_limit s or $mebibytes_limit MiB" >&2
      failed=1
    fi
  done
  echo "| all | $compiler | $((total / 10)).$((total % 10)) | |"
  # Two cores halve the sum.
  [ $total -le $((total_limit * 10 * 2)) ] || { echo "compile_cost: $compiler passes $total_limit s on 2 cores" >&2; failed=1; }
done
exit $failed
