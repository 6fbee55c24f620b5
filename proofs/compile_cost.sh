#!/usr/bin/env bash
# What each proof costs to compile: processor seconds and MiB, per compiler, against the limits.
# proofs/compile_cost.sh [compiler ...]      default: g++ and clang++-19; prints a table; 1 where a limit is passed
# proofs/compile_cost.sh --flags compiler    the options that attest::reference gives its users
#
# The contract: each proof within 60 s and 2 GiB, all within 240 s on two cores. Seconds refer to a machine on which g++
# compiles the reference unit below in 1.5 s, clang in 3.6 s. The limits that must hold here are as many times the cost
# of the same unit here, in this run. Processor time and not the clock's: neither a slow nor a busy machine is a reason
# to fail. Two compilations run at a time; a build waits for the sum over two cores.
set -u
seconds_limit=60 mebibytes_limit=2048 total_limit=240 cores=2
# Tenths of seconds that the reference unit takes where the contract's seconds are counted.
reference_tenths() { case $1 in *clang*) echo 36 ;; *) echo 15 ;; esac; }
root=$(cd "$(dirname "$0")/.." && pwd)

# Wide integers in constant evaluation, which is what a proof's time goes to, without a header: it costs the same as
# long as the compiler does. No edit of it, or the numbers above are measured anew.
reference_unit() {
  cat <<'END'
struct wide { unsigned long long digit[8]{}; };
constexpr wide product(wide const& a, wide const& b) {
  wide made;
  for (int i = 0; i < 4; ++i) {
    unsigned long long carry = 0;
    for (int j = 0; j < 4; ++j) {
      unsigned long long const sum = made.digit[i + j] + carry + (a.digit[i] & 0xFFFFFFFF) * (b.digit[j] & 0xFFFFFFFF);
      carry = sum >> 32;
      made.digit[i + j] = sum & 0xFFFFFFFF;
    }
    made.digit[i + 4] = carry;
  }
  return made;
}
constexpr bool stays_odd(int squarings) {
  wide at{{3, 5, 7, 11, 0, 0, 0, 0}};
  for (int n = 0; n < squarings; ++n) at = product(at, at);
  return at.digit[0] % 2 == 1;
}
static_assert(stays_odd(40000));
END
}

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

# Tenths of processor seconds, KiB and the exit status of one compilation of source $2, into file $3. `times` in a shell
# of its own counts the compiler alone.
measure() {
  local compiler=$1 source=$2 to=$3
  rm -f "$to" "$to".*  # of the compiler before
  (
    "$compiler" -std=c++20 -fsyntax-only "${options[@]}" -I "$root" "$source" 2>"$to.said" &
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

# The most that the reference unit cost in the measurements so far, in tenths: two at a time, as the proofs are.
measure_reference() {
  local at tenths rest
  for at in 1 2; do measure "$1" "$scratch/reference_unit.cpp" "$scratch/reference.$at" & done
  wait
  for at in 1 2; do
    read -r tenths _ rest <"$scratch/reference.$at"
    [ "$rest" = 0 ] || {
      echo "compile_cost: $1 does not compile the reference unit" >&2; cat "$scratch/reference.$at.said" >&2; exit 1; }
    [ "$tenths" -le "$reference" ] || reference=$tenths
  done
}
in_seconds() { echo "$(($1 / 10)).$(($1 % 10))"; }

failed=0
reference_unit >"$scratch/reference_unit.cpp"
echo "| proof | compiler | seconds | MiB |"
echo "|---|---|---|---|"
for compiler in "${compilers[@]}"; do
  command -v "$compiler" >/dev/null || { echo "compile_cost: no $compiler" >&2; failed=1; continue; }
  mapfile -t options < <(flags "$compiler")
  mapfile -t proofs < <(grep -oE '^  [a-z0-9_/]+_proof\.cpp' "$root/proofs/CMakeLists.txt" | tr -d ' ')
  [ ${#proofs[@]} -gt 0 ] || { echo "compile_cost: proofs/CMakeLists.txt names no proof" >&2; exit 1; }
  reference=1
  measure_reference "$compiler"
  for at in "${!proofs[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge $cores ]; do wait -n; done
    measure "$compiler" "$root/proofs/${proofs[at]}" "$scratch/$at" &
  done
  wait
  measure_reference "$compiler"
  nominal=$(reference_tenths "$compiler")
  limit=$((seconds_limit * 10 * reference / nominal)) all_limit=$((total_limit * 10 * reference / nominal))
  total=0 dearest=0
  for at in "${!proofs[@]}"; do
    proof=${proofs[at]}
    read -r tenths most status <"$scratch/$at"
    total=$((total + tenths))
    [ "$tenths" -le "$dearest" ] || dearest=$tenths
    echo "| $proof | $compiler | $(in_seconds "$tenths") | $((most / 1024)) |"
    [ "$status" -eq 0 ] || { echo "compile_cost: $proof does not compile" >&2; cat "$scratch/$at.said" >&2; failed=1; }
    # No compiler needs less than 8 MiB: less was not measured.
    if [ "$tenths" -gt $limit ] || [ "$most" -gt $((mebibytes_limit * 1024)) ] || [ "$most" -lt 8192 ]; then
      echo "compile_cost: $proof passes $(in_seconds $limit) s or $mebibytes_limit MiB, or was not measured" >&2
      failed=1
    fi
  done
  on_cores=$(((total + cores - 1) / cores))
  echo "| all, on $cores cores | $compiler | $(in_seconds $on_cores) | |"
  echo "| limits here: a proof, all | $compiler | $(in_seconds $limit), $(in_seconds $all_limit) | $mebibytes_limit |"
  echo "| the reference unit here | $compiler | $(in_seconds "$reference") | |"
  kept=kept
  [ "$dearest" -le $((seconds_limit * 10)) ] && [ $on_cores -le $((total_limit * 10)) ] ||
    kept="not kept: counted in seconds of this machine"
  echo "| the contract: $seconds_limit s, all in $total_limit s | $compiler | $kept | $mebibytes_limit |"
  [ $on_cores -le $all_limit ] || {
    echo "compile_cost: $compiler passes $(in_seconds $all_limit) s on $cores cores" >&2; failed=1; }
done
exit $failed
