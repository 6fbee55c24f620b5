#!/usr/bin/env bash
# What each proof costs to compile: processor seconds and MiB, per compiler, against the limits.
# proofs/compile_cost.sh [compiler ...]      default: g++ and clang++-19; prints a Markdown table; 1 where a limit is passed
# proofs/compile_cost.sh --flags compiler    the options that attest::reference gives its users
#
# Processor time and not the clock's: a busy machine is no reason to fail. Two proofs compile at a time, and the sum over
# two cores is what a build waits for.
set -u
seconds_limit=60 mebibytes_limit=2048 total_limit=240 cores=2
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
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Highest resident set of process $1 and its children, in KiB, until it ends. VmHWM is itself a maximum, so that only
# what is allocated in the last instant can be missed.
watch() {
  local most=0 key value rest pid
  while kill -0 "$1" 2>/dev/null; do
    for pid in "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
      while read -r key value rest; do
        [ "$key" != VmHWM: ] || [ "$value" -le "$most" ] || most=$value
      done <"/proc/$pid/status"
    done 2>/dev/null
    sleep 0.05
  done
  echo "$most"
}

# Tenths of processor seconds, KiB and the exit status of one compilation, into file $3. `times` in a shell of its own
# counts the compiler alone.
measure() {
  local compiler=$1 proof=$2 to=$3
  rm -f "$to" "$to".*  # of the compiler before
  (
    "$compiler" -std=c++20 -fsyntax-only "${options[@]}" -I "$root" "$root/proofs/$proof" 2>"$to.said" &
    echo $! >"$to.pid"
    wait $!
    echo $? >"$to.status"
    times >"$to.times"
  ) &
  until [ -s "$to.pid" ]; do sleep 0.01; done
  watch "$(cat "$to.pid")" >"$to.most"
  wait $!
  # 0m1.234s 0m0.123s, the second line: of the children
  awk -v most="$(cat "$to.most")" -v status="$(cat "$to.status")" 'NR == 2 {
    for (i = 1; i <= 2; ++i) { split($i, part, "m"); sum += part[1] * 60 + part[2] }
    printf "%d %d %d\n", sum * 10 + 0.5, most, status }' "$to.times" >"$to"
}

failed=0
echo "| proof | compiler | seconds | MiB |"
echo "|---|---|---|---|"
for compiler in "${compilers[@]}"; do
  command -v "$compiler" >/dev/null || { echo "compile_cost: no $compiler" >&2; failed=1; continue; }
  mapfile -t options < <(flags "$compiler")
  mapfile -t proofs < <(grep -oE '^  [a-z0-9_/]+_proof\.cpp' "$root/proofs/CMakeLists.txt" | tr -d ' ')
  [ ${#proofs[@]} -gt 0 ] || { echo "compile_cost: proofs/CMakeLists.txt names no proof" >&2; exit 1; }
  for at in "${!proofs[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge $cores ]; do wait -n; done
    measure "$compiler" "${proofs[at]}" "$scratch/$at" &
  done
  wait
  total=0
  for at in "${!proofs[@]}"; do
    proof=${proofs[at]}
    read -r tenths most status <"$scratch/$at"
    total=$((total + tenths))
    echo "| $proof | $compiler | $((tenths / 10)).$((tenths % 10)) | $((most / 1024)) |"
    [ "$status" -eq 0 ] || { echo "compile_cost: $proof does not compile" >&2; cat "$scratch/$at.said" >&2; failed=1; }
    # No compiler needs less than 8 MiB: less was not measured.
    if [ "$tenths" -gt $((seconds_limit * 10)) ] || [ "$most" -gt $((mebibytes_limit * 1024)) ] || [ "$most" -lt 8192 ]; then
      echo "compile_cost: $proof passes $seconds_limit s or $mebibytes_limit MiB, or was not measured" >&2
      failed=1
    fi
  done
  on_cores=$(((total + cores - 1) / cores))
  echo "| all, on $cores cores | $compiler | $((on_cores / 10)).$((on_cores % 10)) | |"
  [ $on_cores -le $((total_limit * 10)) ] ||
    { echo "compile_cost: $compiler passes $total_limit s on $cores cores" >&2; failed=1; }
done
exit $failed
