#!/usr/bin/env bash
# plant_test.sh KERNEL_PROMISES_TEST NAME…: with a mutant of the zoo in place of the built-in kernel the properties
# fail, crash or hang (two minutes of processor time are enough); with an honest design (NAME starts with '+') they
# hold. `all` is the whole zoo. Always the same draw.
set -u
test=$1
shift
[ "$1" != all ] || mapfile -t names < <("$test" "the zoo by name" | sed -n 's/^specimen //p')
[ "$1" = all ] || names=("$@")
[ ${#names[@]} -gt 0 ] || { echo "no kernels to plant"; exit 1; }
wrong=0
for name in "${names[@]}"; do
  said=$(ulimit -t 120; RC_PARAMS="max_success=1 seed=1" ATTEST_PLANT=${name#+} "$test" "[property]" -a 2>&1)
  failed=$?
  # A program that did not get to its properties has killed nothing.
  if grep -qF "the zoo has no kernel" <<<"$said" || ! grep -qF "Using configuration" <<<"$said"; then
    echo "${name#+} was not planted: $said"
    wrong=1
  fi
  case $name in
    +*) [ $failed = 0 ] || { echo "honest ${name#+} fails the properties"; wrong=1; } ;;
    *) [ $failed != 0 ] || { echo "mutant $name passes the properties"; wrong=1; } ;;
  esac
done
echo "${#names[@]} kernels planted"
exit $wrong
