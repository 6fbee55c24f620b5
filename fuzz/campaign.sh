#!/bin/sh
# One fuzzing campaign: search, merge, minimise, measure, and say what came of it. `./attest fuzz TARGET` builds the
# target and calls this.
#
# Usage: fuzz/campaign.sh PROGRAM SEEDS WORK SECONDS JOBS [OPTION]…
#   PROGRAM  the libFuzzer target       SEEDS  folder of the corpus that the build made
#   WORK     folder of this target's own: corpus/ grows from campaign to campaign, found/ keeps findings
#   OPTION   of libFuzzer, for the search
# Exit status: 0 nothing found, 1 findings, 2 the campaign could not run.
set -eu
program=$1 seeds=$2 work=$3 seconds=$4 jobs=$5
shift 5
here=$(dirname -- "$(readlink -f -- "$0")")
target=$(basename -- "$program")
target=${target#fuzz_}
log=$work/campaign.log
# Sanitizers look for a llvm-symbolizer without a version, and Debian's has one.
symbolizer=$(command -v llvm-symbolizer-19 || true)
[ -z "$symbolizer" ] || export ASAN_SYMBOLIZER_PATH="${ASAN_SYMBOLIZER_PATH:-$symbolizer}"
mkdir -p "$work/corpus" "$work/found" "$work/again"  # again/: what fails once more below

# The options and the dictionary of this target, as OSS-Fuzz reads them.
known=$(sed -n 's/^\([a-z_]*\) *= *\([0-9]*\)$/-\1=\2/p' "$here/targets/$target.options" 2>/dev/null || true)
[ ! -f "$here/targets/$target.dict" ] || known="$known -dict=$here/targets/$target.dict"
many=
[ "$jobs" = 1 ] || many="-fork=$jobs -ignore_crashes=1"

before=$(find "$work/found" -type f | sort)
# shellcheck disable=SC2086  # one word an option
"$program" $known $many -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 -max_total_time="$seconds" \
  -artifact_prefix="$work/found/" "$@" "$work/corpus" "$seeds" >"$log" 2>&1 && status=0 || status=$?

after=$(find "$work/found" -type f | sort)
new=$(printf '%s\n' "$after" | grep -vxF -e "$before" || true)
if [ "$status" != 0 ] && [ -z "$new" ]; then
  tail -n 20 "$log" >&2
  exit 2
fi

# A small corpus with the same coverage.
rm -rf "$work/merged"
mkdir "$work/merged"
# shellcheck disable=SC2086
"$program" $known -artifact_prefix="$work/again/" -merge=1 "$work/merged" "$work/corpus" "$seeds" \
  >"$work/merge.log" 2>&1 || {
  tail -n 20 "$work/merge.log" >&2
  exit 2
}
rm -rf "$work/corpus"
mv "$work/merged" "$work/corpus"

# How fast it is over that corpus: each input up to 20 times, about ten seconds in all, without mutation; by processor
# time, so that other work on the machine does not count.
files=$(find "$work/corpus" -type f | wc -l)
runs=$(awk -v files="$files" '/^stat::average_exec_per_sec/ { rate = $2 }
  END { runs = files ? int(10 * rate / files) : 1; print (runs > 20 ? 20 : runs < 1 ? 1 : runs) }' "$log")
spent=$( (find "$work/corpus" -type f -exec "$program" -artifact_prefix="$work/again/" -runs="$runs" {} + \
  >/dev/null 2>&1; times) | tail -n 1)
speed=$(echo "$spent" | awk -v files="$files" -v runs="$runs" '
  function seconds(word) { split(word, part, /[ms]/); return 60 * part[1] + part[2] }
  { used = seconds($1) + seconds($2); if (used > 0) printf "%.0f", runs * files / used; else printf "?" }')
sizes=$(find "$work/corpus" -type f -exec env ATTEST_FUZZ_WORK=1 "$program" -artifact_prefix="$work/again/" {} + \
  2>/dev/null |
  sed -n 's/^work //p' | sort -n |
  awk '{ n[NR] = $1 }
       END { if (NR) printf "; median problem n·m·(d+dv) = %d, p95 %d", n[int((NR + 1) / 2)], n[int((19 * NR + 19) / 20)] }')

awk -v target="$target" -v corpus="$files" -v speed="$speed" -v sizes="$sizes" '
  match($0, /cov: [0-9]+/) { cov = substr($0, RSTART + 5, RLENGTH - 5) }
  match($0, /ft: [0-9]+/) { ft = substr($0, RSTART + 4, RLENGTH - 4) }
  match($0, /^#[0-9]+/) { done = substr($0, 2, RLENGTH - 1) }
  match($0, /exec\/s:? [0-9]+/) { split(substr($0, RSTART, RLENGTH), word, " "); rate = word[2] }
  /^stat::number_of_executed_units/ { done = $2 }
  /^stat::average_exec_per_sec/ { rate = $2 }
  END {
    printf "%s: %s executions, %s a second; coverage %s edges, %s features\n", target, done, rate, cov, ft
    printf "corpus: %s inputs, minimised; replayed at %s executions a second of processor time%s\n", corpus, speed, \
      sizes
  }' "$log"

[ "$new" ] || {
  echo "findings: none"
  exit 0
}
echo "findings:"
for input in $new; do
  "$program" -minimize_crash=1 -max_total_time=20 -exact_artifact_path="$input.small" "$input" >/dev/null 2>&1 || true
  [ ! -s "$input.small" ] || mv "$input.small" "$input"
  echo "  $program $input"
  "$program" -artifact_prefix="$work/again/" "$input" 2>&1 |
    grep -m 3 -E 'ERROR: |not so: |runtime error|is .*the exact value' | cut -c1-200 | sed 's/^/    /' || true
done
exit 1
