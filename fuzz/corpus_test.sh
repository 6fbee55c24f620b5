#!/bin/sh
# The corpus of a fuzz target is what its script writes, twice the same, and every input that was found: no more and no
# less.
#
# Usage: fuzz/corpus_test.sh PYTHON SCRIPT REGRESSIONS CORPUS
set -eu
python=$1 script=$2 regressions=$3 corpus=$4
again=$(mktemp -d)
trap 'rm -rf "$again"' EXIT

# Where hashes, the locale or the clock's zone would show.
PYTHONHASHSEED=1 LC_ALL=C TZ=UTC "$python" "$script" "$again/corpus"
PYTHONHASHSEED=2 LC_ALL=C.UTF-8 TZ=Asia/Tokyo "$python" "$script" "$again/once_more"
diff -r "$again/corpus" "$again/once_more" || { echo "$script writes other seeds each time"; exit 1; }
[ "$(find "$again/corpus" -type f | wc -l)" -ge 20 ] || { echo "$script writes hardly a seed"; exit 1; }

for input in "$regressions"/*; do
  [ ! -e "$input" ] || cp "$input" "$again/corpus/found-$(basename "$input")"
done
diff -r "$again/corpus" "$corpus" || { echo "$corpus is not what $script and $regressions make"; exit 1; }
echo "$(find "$corpus" -type f | wc -l) inputs"
