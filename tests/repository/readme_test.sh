#!/bin/sh
# The plug-in in README.md compiles as README.md says and is certified.  usage: readme_test.sh ROOT ATTEST CC
set -eu
root=$1 attest=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```/ { inside = ($0 == "```c"); next } inside' "$root/README.md" >"$work/kernel.c"
[ -s "$work/kernel.c" ] || { echo "README.md has no C block"; exit 1; }
"$cc" -std=c99 -Wall -Wextra -Werror -shared -fPIC -O2 -I"$root/problem/abi" "$work/kernel.c" \
  -o "$work/libkernel.so" -lm
"$attest" audit --seed 1 --draws 20 --draw-products 1048576 --kernel "$work/libkernel.so"
