#!/usr/bin/env bash
# Do the proofs notice, and the second evaluation of the bound? Each edit of proof_edits/ goes into a copy of its file.
# Then a proof must fail to compile, at a static_assert. On a line that begins with `text`,
# tests/reference/bound_limits.py must find a fault instead: a number of the bound that is below docs/bound.md, or a row
# that is judged although the hypotheses exclude it. (Unedited, the proofs compile and no number is below: the build and
# reference.bound_from_text see to that.)
# tests/proof_sensitivity.sh [compiler [jobs [word]]]    1 if an edit passes unnoticed; a word: only lines that hold it
# tests/proof_sensitivity.sh --check    compiles nothing: 1 if what an edit replaces is not in its file exactly once
# Cost: four minutes before the first edit of the text, whose numbers are kept in a file; then about 3 s of processor
# time for an edit, as bound_rows.cpp alone is compiled, with a precompiled header, and rows are read up to the first
# fault. All edits take half an hour of processor time. Keep `|` out of them.
set -u
shopt -u patsub_replacement 2>/dev/null
root=$(cd "$(dirname "$0")/.." && pwd)
check=
if [ "${1-}" = --check ]; then check=yes; shift; fi
compiler=${1:-g++} jobs=${2:-2} word=${3-}
rows=12000 seed=1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mapfile -t flags < <("$root/proofs/compile_cost.sh" --flags "$compiler")

# Each line of proof_edits/of_proofs.txt: proof | file | what stands there, once | what is put there
# of_text.txt: text | file of reference/bound | the same
edits=$(cat "$root"/tests/proof_edits/of_proofs.txt "$root"/tests/proof_edits/of_text.txt)

# What every edited bound_rows is linked with, the headers that no edit of reference/bound touches, and what the text
# says.
prepare_text() {
  local include name
  mkdir "$scratch/text"
  for name in reference/compiled/row audit/contract/{contract,preset_models,preset_family} \
    audit/contract/{gradient_presets,merge_presets} audit/builtin/builtin_model; do
    "$compiler" -std=c++20 -O0 -w -c "${flags[@]}" -I "$root" "$root/$name.cpp" -o "$scratch/text/${name##*/}.o" ||
      return 1
  done
  for include in algorithm cmath random string vector; do echo "#include <$include>"; done >"$scratch/text/unedited.hpp"
  for include in audit/contract/contract_fields reference/attention/attention tests/support/written; do
    echo "#include \"$include.hpp\""
  done >>"$scratch/text/unedited.hpp"
  "$compiler" -std=c++20 -O0 -w "${flags[@]}" -I "$root" -x c++-header "$scratch/text/unedited.hpp" \
    -o "$scratch/text/unedited.hpp.gch" && bound_rows "$scratch/text" &&
    python3 "$root/tests/reference/bound_limits.py" keep "$scratch/kept" "$scratch/text/bound_rows" $rows $seed
}

# bound_rows with the edited file of a copy. Its own templates come before those in the objects.
bound_rows() {
  "$compiler" -std=c++20 -O0 -w -c "${flags[@]}" -I "$1" -I "$root" -include "$scratch/text/unedited.hpp" \
    "$root/tests/reference/bound_rows.cpp" -o "$1/bound_rows.o" &&
    "$compiler" "$1/bound_rows.o" \
      "$scratch"/text/{row,contract,preset_models,preset_family,gradient_presets,merge_presets,builtin_model}.o \
      -o "$1/bound_rows"
}

# 0 if the text finds an unsound number, 1 if it finds none; else the edit does not compile or run.
text_notices() {
  bound_rows "$1" 2>&1 || return 2
  python3 "$root/tests/reference/bound_limits.py" ask "$scratch/kept" "$1/bound_rows" $rows $seed 2>&1
  case $? in 3) return 0 ;; 0) return 1 ;; *) return 2 ;; esac
}

# 0 where the proof does not compile, else 1.
proof_notices() {
  local file=$root/proofs/$2_proof.cpp
  [ ! -e "$1/proofs/$2_proof.cpp" ] || file=$1/proofs/$2_proof.cpp
  ! "$compiler" -std=c++20 -fsyntax-only -w -Wfatal-errors "${flags[@]}" -I "$1" -I "$root" "$file" 2>&1
}

# A copy of the edited file alone, which stands before the sources where headers are sought.
try() {
  local number=$1 proof=$2 file=$3 old=$4 new=$5 copy=$scratch/$1 text status
  [ "$proof" != text ] || file=reference/bound/$file
  if [ "$(grep -oFe "$old" "$root/$file" | wc -l)" -ne 1 ]; then
    echo "NOT ONCE   $file: $old"
    return 1
  fi
  [ -z "$check" ] || { echo "stands once $file: $old"; return 0; }
  mkdir -p "$copy/${file%/*}"
  text=$(<"$root/$file")
  printf '%s\n' "${text/"$old"/"$new"}" >"$copy/$file"
  if [ "$proof" = text ]; then text_notices "$copy"; else proof_notices "$copy" "$proof"; fi >"$scratch/$number.log"
  status=$?
  rm -rf "$copy"
  if [ $status -eq 0 ] && [ "$proof" != text ] &&
    ! grep -qE 'static assertion|static_assert|constant expression|constant condition' "$scratch/$number.log"; then
    status=2
  fi
  case $status in
    0) echo "noticed    $file: $old -> $new" ;;
    1) echo "UNNOTICED  $file: $old -> $new" ;;
    *) echo "BROKEN     $file: $old -> $new: $(head -1 "$scratch/$number.log")" ;;
  esac
  return $status
}

edits=$(grep -Fe "$word" <<<"$edits")
if [ -z "$check" ] && grep -q '^text ' <<<"$edits"; then prepare_text || exit 1; fi
verdict=noticed
[ -z "$check" ] || verdict="standing once"
number=0
while IFS='|' read -r proof file old new; do
  [ -n "$proof" ] || continue
  number=$((number + 1))
  trim() { local x=${1# }; echo "${x% }"; }
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  (try "$number" "$(trim "$proof")" "$(trim "$file")" "$(trim "$old")" "$(trim "$new")" >"$scratch/$number.said" ||
    touch "$scratch/$number.failed") &
done <<<"$edits"
wait
cat "$scratch"/*.said | sort
failed=$(find "$scratch" -name '*.failed' | wc -l)
echo "$number edits, $failed not ${verdict}"
[ "$failed" -eq 0 ] && { [ -n "$word" ] || [ "$number" -ge 20 ]; }
