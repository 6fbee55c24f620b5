#!/bin/sh
# The tests of the program leave nothing among the temporary files.
# Usage: left_files.sh PROGRAM    that has the test of the subject cli_lists
set -eu
outer=$(mktemp -d)
trap 'rm -rf "$outer"' EXIT
TMPDIR=$outer "$1" '-#' '[#cli_lists_test]' >/dev/null
left=$(ls -A "$outer")
[ -z "$left" ] || { echo "left among the temporary files: $left"; exit 1; }
