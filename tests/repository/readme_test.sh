#!/bin/sh
# The C kernel of README.md compiles, is refuted in the words that README.md shows, and is certified once it is mended
# as README.md says.  usage: readme_test.sh ROOT ATTEST CC
set -eu
root=$1 attest=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```/ { inside = ($0 == "```c"); next } inside' "$root/README.md" >"$work/wrong.c"
mended=$(sed -n 's/^Write `\(.*\)` for the wrong `1`.*/\1/p' "$root/README.md")
sed "s|? 1 : c->scale; .*|? $mended : c->scale;|" "$work/wrong.c" >"$work/mended.c"
for kernel in wrong mended; do
  [ -s "$work/$kernel.c" ] || { echo "README.md has no C block"; exit 1; }
  mkdir "$work/$kernel"
  "$cc" -std=c99 -Wall -Wextra -Werror -shared -fPIC -O2 -I"$root/problem/abi" "$work/$kernel.c" \
    -o "$work/$kernel/libkernel.so" -lm
done
if cmp -s "$work/wrong.c" "$work/mended.c"; then echo "README.md does not say how to mend its kernel"; exit 1; fi
cd "$work/wrong"
status=0
ATTEST_CALLED=./attest "$attest" audit --seed 1 --kernel ./libkernel.so --fail-fast >said || status=$?
[ $status = 1 ] || { cat said; echo "exit status $status, expected 1"; exit 1; }
# The lines of the report that README.md shows, without their folding; how small the call becomes is a matter of time.
tr -s '\n ' '  ' <said >line
awk '/^```/ { open = open ? "" : $0; next } open == "```"' "$root/README.md" | tr -s '\n ' '  ' |
  sed 's/ CERTIFIED .*//; s/ smallest call .* again / ⋮ again /; s/ ⋮ /\n/g; s/^ *//' >shown
while read -r part || [ "$part" ]; do
  part=${part% }
  grep -qF -- "$part" line || { cat said; echo "the report does not say: $part"; exit 1; }
done <shown
grep -q 'equals the answer with scale 1' line
cd "$work/mended"
"$attest" audit --seed 1 --draws 20 --draw-products 1048576 --kernel ./libkernel.so
cd "$work"
# The words of "In CI": the report that they name is written.
words=$(sed -n 's/^\.\/attest \(audit .* --junit audit\.xml\)$/\1/p' "$root/README.md")
cd mended
# shellcheck disable=SC2086  # words of a command line
"$attest" $words --only accuracy --draws 0 >/dev/null
grep -q '<testsuite ' audit.xml
