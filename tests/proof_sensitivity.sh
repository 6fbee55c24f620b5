#!/usr/bin/env bash
# Do the proofs notice? Each edit below, a character or a word, goes into a copy of the sources; then a proof must fail to
# compile, at a static_assert. (Unedited they compile: the build compiles them all.)
# tests/proof_sensitivity.sh [compiler [jobs]]    1 where an edit passes unnoticed
# tests/proof_sensitivity.sh --check              compiles nothing: 1 where what an edit replaces does not stand in its file once
set -u
shopt -u patsub_replacement 2>/dev/null
root=$(cd "$(dirname "$0")/.." && pwd)
check=
if [ "${1-}" = --check ]; then check=yes; shift; fi
compiler=${1:-g++} jobs=${2:-2}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mapfile -t flags < <("$root/proofs/compile_cost.sh" --flags "$compiler")

# proof | file | what stands there, once | what is put there
edits='
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | "1.414" | "1.415"
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | deviation_of_signs(64) | deviation_of_signs(63)
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | deviation_of_signs(512) | deviation_of_signs(511)
documents/day_11_scaled_dot_product_attention | proofs/documents/dot_product_moments.hpp | * scale * scale / | * scale /
documents/day_11_scaled_dot_product_attention | proofs/documents/exact_weights.hpp | exponential_sum::of(n[i]), all | exponential_sum::of(n[0]), all
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | class_of_product(0, - | class_of_product(1, -
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | prints(solved.S[1], | prints(solved.S[0],
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | e11_1.uniform(2) && nearly_equal | e11_1.uniform(1) && nearly_equal
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | dot_is(2, 2, 1) | dot_is(2, 2, 2)
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | 1, 1, 0, 0, | 1, 1, 1, 0,
documents/day_11_scaled_dot_product_attention | proofs/documents/day_11_scaled_dot_product_attention_proof.cpp | 1.098612288668109691395245 | 1.098612288668109691395246
documents/day_74_why_do_we_scale | proofs/documents/day_74_why_do_we_scale_proof.cpp | 0.6021540375738506812762 | 0.6021540375738506812763
documents/day_74_why_do_we_scale | proofs/documents/day_74_why_do_we_scale_proof.cpp | 3 * a.root * b.root | 2 * a.root * b.root
documents/day_74_why_do_we_scale | proofs/documents/day_74_why_do_we_scale_proof.cpp | is(440, 81) | is(441, 81)
documents/day_74_why_do_we_scale | proofs/documents/day_74_why_do_we_scale_proof.cpp | population, "6.89" | population, "5.43"
documents/day_74_why_do_we_scale | proofs/documents/day_74_why_do_we_scale_proof.cpp | K_of_W{5, 3, 4, | K_of_W{5, 3, 5,
documents/day_74_softmax_and_variance | proofs/documents/day_74_softmax_and_variance_proof.cpp | 23271.51211233775172 | 23271.51211233775173
documents/day_74_softmax_and_variance | proofs/documents/day_74_softmax_and_variance_proof.cpp | product.is(0, 0, 7) | product.is(0, 0, 5)
documents/day_74_softmax_and_variance | proofs/documents/day_74_softmax_and_variance_proof.cpp | "0.947", | "0.946",
documents/day_74_softmax_and_variance | proofs/documents/day_74_softmax_and_variance_proof.cpp | 0.31490947312785715553 | 0.31490947312785715554
documents/day_74_softmax_and_variance | proofs/documents/day_74_softmax_and_variance_proof.cpp | over_1_73(2), "1.16" | over_1_73(2), "1.15"
documents/the_math | proofs/documents/dot_product_moments.hpp | found.add(d - 2 * i, | found.add(d - i,
documents/the_math | proofs/documents/exact_weights.hpp | all.add({score, 1}) | all.add({score, 2})
documents/the_math | proofs/documents/the_math_proof.cpp | fraction(1, 2) && exact[2] | fraction(1, 3) && exact[2]
documents/the_math | proofs/documents/the_math_proof.cpp | 0.2424329707047139215242 | 0.2424329707047139215243
documents/the_math | proofs/documents/the_math_proof.cpp | == 16'"'"'777'"'"'216 | == 16'"'"'777'"'"'217
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | ".05", ".05"} | ".05", ".06"}
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | {".1", ".7", | {".1", ".6",
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | ".4", ".2"} | ".4", ".3"}
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | ".2", ".6"} | ".2", ".5"}
documents/scaled_dot_product_attention | proofs/documents/exact_weights.hpp | {a.over * b.under + b.over * a.under, | {a.over * b.under + a.over * b.under,
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | number(96), 24 | number(95), 24
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | inverse_sqrt<width>(4) | inverse_sqrt<width>(5)
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | exponential_sum::of(0, 7) | exponential_sum::of(0, 8)
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | 1002}) == exact_softmax | 1001}) == exact_softmax
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | is_softmax(along_0, 0, 2) | is_softmax(along_0, 0, 1)
documents/scaled_dot_product_attention | proofs/documents/scaled_dot_product_attention_proof.cpp | "0.960000000000000000" | "0.960000000000000001"
documents/note_of_2025_07_30 | proofs/documents/note_of_2025_07_30_proof.cpp | deviation_of_signs(256) | deviation_of_signs(255)
documents/note_of_2025_07_30 | proofs/documents/dot_product_moments.hpp | ways * (d - i) / (i + 1) | ways * (d - i) / (i + 2)
documents/note_of_2025_07_30 | proofs/documents/note_of_2025_07_30_proof.cpp | example.v = {-7 | example.k = {-7
documents/note_of_2025_07_30 | proofs/documents/note_of_2025_07_30_proof.cpp | {-2, 1, 1} | {-2, 1, 2}
documents/note_of_2025_07_30 | proofs/documents/note_of_2025_07_30_proof.cpp | {100, 0, 0} | {10, 0, 0}
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | A::larger(largest, S[i * stride + j]) | A::larger(largest, S[i * stride])
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | A::larger(m, largest) | A::larger(largest, largest)
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | A::weight(states.m[i], m) | A::weight(m, m)
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | states.m[i] = m; | states.m[i] + m;
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | sum = sum + s; | sum = sum * s;
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | l = l * states.factor[i] + sum | l = l + states.factor[i] * sum
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | j += lanes) { | j += 1) {
fast/algorithm/online_softmax | fast/algorithm/online_softmax.hpp | A::larger(*row.m, *other.m) | A::larger(*row.m, *row.m)
fast/algorithm/online_softmax | fast/algorithm/online_softmax.hpp | operations.update_max(S, rows, keys, states); | operations.exponentiate(S, rows, keys, states);
fast/algorithm/online_softmax | fast/algorithm/online_softmax.hpp | other.l[lane] * theirs | other.l[lane] * mine
fast/algorithm/online_softmax | fast/algorithm/online_softmax.hpp | row.l[lane] * mine + | row.l[lane] * mine *
fast/algorithm/online_softmax | fast/algorithm/online_softmax.hpp | other_O[c] * theirs | other_O[c] * mine
fast/algorithm/online_softmax | fast/algorithm/online_softmax.hpp | *row.m = m; | *other.m = m;
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | A::quotient(O[c], l); | A::quotient(l, l);
fast/algorithm/online_softmax | proofs/models/online_softmax.hpp | half > 0 | half > 1
models/lazy_softmax | proofs/models/online_softmax.hpp | N const highest = m + tau | N const highest = m + tau + tau
models/lazy_softmax | proofs/models/online_softmax.hpp | == highest ? m : largest | == highest ? largest : m
models/lazy_softmax | proofs/models/online_softmax.hpp | == highest ? m : largest | == highest ? m : highest
fast/algorithm/exp2_polynomial | fast/algorithm/exp2.hpp | 0x1.62e432p-1f | 0x1.62e434p-1f
fast/algorithm/exp2_polynomial | fast/algorithm/exp2.hpp | 0x1.62e42fefa39f3p-1 | 0x1.62e42fefa39f4p-1
fast/algorithm/exp2_polynomial | fast/algorithm/exp2.hpp | exp_error<T> * 25 / 128 | exp_error<T> * 22 / 128
fast/algorithm/band | fast/algorithm/band.hpp | saturating_add(centre, band.right), 1) | saturating_add(centre, band.right), 0)
fast/algorithm/band | fast/algorithm/band.hpp | saturating_add(centre, -band.left) | saturating_add(centre, band.left)
fast/algorithm/band | fast/algorithm/band.hpp | band.left < 0 ? | band.left <= 0 ?
fast/algorithm/band | fast/algorithm/band.hpp | keys_in_band(band, i), {0, m} | keys_in_band(band, i), {0, m + 1}
fast/algorithm/band | fast/algorithm/band.hpp | view.any = hull(view.any, rules[i].visible) | view.any = hull(rules[0].visible, rules[i].visible)
fast/algorithm/band | fast/algorithm/band.hpp | if (b.empty()) return a; | if (b.empty()) return b;
fast/algorithm/band | fast/algorithm/band.hpp | a.last > b.last ? | a.last < b.last ?
fast/algorithm/band | fast/algorithm/band.hpp | {a.first > b.first ? | {a.first < b.first ?
fast/algorithm/band | fast/algorithm/band.hpp | intersection(view.all, rules[i].visible) | rules[i].visible
fast/algorithm/band | fast/algorithm/band.hpp | rules[i].mask != nullptr | rules[i].mask == nullptr
fast/algorithm/band | fast/algorithm/band.hpp | outer.first <= inner.first | outer.first < inner.first
fast/algorithm/band | fast/algorithm/band.hpp | inner.last <= outer.last | inner.last <= outer.last + 1
fast/algorithm/band | reference/attention/visibility.hpp | saturating_add(centre, -band.left) | saturating_add(centre, band.left)
reference/real/elementary_functions | reference/real/exp.hpp | H * (degree + 1) | H * (degree + 9)
reference/real/elementary_functions | reference/real/exp.hpp | < F + 1) { | < F + 1 && degree < 100) {
reference/real/elementary_functions | reference/real/exp.hpp | = 16u << H | = 15u << H
reference/real/elementary_functions | reference/real/constants.hpp | power /= 9 | power /= 8
reference/real/elementary_functions | reference/real/constants.hpp | odd += 2 | odd += 4
reference/real/elementary_functions | reference/real/log.hpp | power / (2 * i + 1) | power / (2 * i + 3)
reference/real/elementary_functions | reference/real/expm1.hpp | while (zeros * (degree + 1) | while (2 * zeros * (degree + 1)
reference/real/elementary_functions | reference/real/expm1.hpp | n > 1; | n > 2;
reference/bound/bound | reference/bound/terms.hpp | ku / (1 - ku) * | ku / (1 + ku) *
reference/bound/bound | reference/bound/terms.hpp | gamma_F = gamma(model.k_f, f.u); | gamma_F = gamma(model.k_pre, f.u);
reference/bound/bound | reference/bound/terms.hpp | 2 * model.tau * (1 + 2 * u) + ell | ell
reference/bound/bound | reference/bound/formulas-inl.hpp | terms.product_error * (terms.scale_upper * key.product_upper + | terms.product_error * (0.8 * terms.scale_upper * key.product_upper +
reference/bound/bound | reference/bound/formulas-inl.hpp | terms.reference_factor * my.Y; | terms.reference_factor;
reference/bound/bound | reference/bound/formulas-inl.hpp | terms.model.k_pre + terms.merges_O | terms.merges_O
reference/bound/bound | reference/bound/results.hpp | gamma(model.k_lse, u) | gamma(1, u)
documents/day_11_scaled_dot_product_attention | reference/textbook/softmax_jacobian.hpp | if (k != i) | if (k == i)
documents/day_74_why_do_we_scale | reference/textbook/variance.hpp | n * (n - 1) | n * (n + 1)
'

# The copy: headers by link, the edited file by value.
try() {
  local number=$1 proof=$2 file=$3 old=$4 new=$5 copy=$scratch/$1 text rest
  text=$(cat "$root/$file")
  rest=${text#*"$old"}
  if [ "$rest" = "$text" ] || [ "${rest#*"$old"}" != "$rest" ]; then
    echo "NOT ONCE   $file: $old"
    return 1
  fi
  [ -z "$check" ] || { echo "stands once $file: $old"; return 0; }
  mkdir -p "$copy"
  (cd "$root" && cp -r --parents problem reference fast proofs "$copy") 2>/dev/null
  printf '%s\n' "${text/"$old"/"$new"}" >"$copy/$file"
  if "$compiler" -std=c++20 -fsyntax-only -w -Wfatal-errors "${flags[@]}" -I "$copy" \
    "$copy/proofs/${proof}_proof.cpp" 2>"$scratch/$number.log"; then
    echo "UNNOTICED  $file: $old -> $new"
  elif grep -qE 'static assertion|static_assert|constant expression|constant condition' "$scratch/$number.log"; then
    echo "noticed    $file: $old -> $new"
    rm -rf "$copy"
    return 0
  else
    echo "BROKEN     $file: $old -> $new: $(head -1 "$scratch/$number.log")"
  fi
  return 1
}

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
[ "$failed" -eq 0 ] && [ "$number" -ge 20 ]
