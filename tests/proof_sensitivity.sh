#!/usr/bin/env bash
# Do the proofs notice, and the second evaluation of the bound? Each edit below goes into a copy of its file. Then a proof
# must fail to compile, at a static_assert; or, on a line that begins with `text`, tests/reference/bound_limits.py must find
# a number of the bound below that of docs/bound.md, or a row judged that its hypotheses exclude. (Unedited the proofs
# compile and no number is below: the build and reference.bound_from_text see to that.)
# tests/proof_sensitivity.sh [compiler [jobs [word]]]    1 where an edit passes unnoticed; a word: only lines that hold it
# tests/proof_sensitivity.sh --check              compiles nothing: 1 where what an edit replaces does not stand in its file once
# Cost: a minute before the first edit of the text, whose numbers are kept in a file; then about 3 s of processor time for
# an edit, as bound_rows.cpp alone is compiled, with a precompiled header, and rows are read up to the first fault. All edits
# take half an hour of processor time. Keep `|` out of them.
set -u
shopt -u patsub_replacement 2>/dev/null
root=$(cd "$(dirname "$0")/.." && pwd)
check=
if [ "${1-}" = --check ]; then check=yes; shift; fi
compiler=${1:-g++} jobs=${2:-2} word=${3-}
rows=3000 seed=1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mapfile -t flags < <("$root/proofs/compile_cost.sh" --flags "$compiler")

# proof | file | what stands there, once | what is put there
# text | file of reference/bound | the same
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
reference/bound/bound | reference/bound/results.hpp | gamma(model.k_lse, u) | gamma(1, u)
reference/bound/bound | reference/bound/terms.hpp | judged = judged && gamma_L < 1; | judged = judged;
reference/bound/bound | reference/bound/records.hpp | lanes <= most_lanes; lanes *= 2 | lanes < most_lanes; lanes *= 2
reference/bound/bound | reference/bound/formulas-inl.hpp | my.X * (1 + terms.gamma_x) + my.reference_error; | my.X + my.reference_error;
reference/bound/bound | reference/bound/formulas-inl.hpp | select(my.far, R(0), rounded_up(key.score_upper + E))); | select(my.far, R(0), key.score_upper));
documents/day_11_scaled_dot_product_attention | reference/textbook/softmax_jacobian.hpp | if (k != i) | if (k == i)
documents/day_74_why_do_we_scale | reference/textbook/variance.hpp | n * (n - 1) | n * (n + 1)
text | terms.hpp | product_error = gamma(k_qk, u_qk); | product_error = gamma(0.5 * k_qk, u_qk);
text | terms.hpp | k_qk = static_cast<double>(model.k_qk_per_d) * products + model.k_qk_base; | k_qk = static_cast<double>(model.k_qk_per_d) * products;
text | terms.hpp | u_qk = model.u_qk > 0 ? model.u_qk : u; | u_qk = u;
text | formulas-inl.hpp | + terms.first_bias * bias) + | ) +
text | terms.hpp | first_bias = 1 + model.g_b; | first_bias = 1;
text | terms.hpp | (2 * products * folded_scale + 2); | (products * folded_scale + 2);
text | terms.hpp | (2 * products * folded_scale + 2); | (2 * products * folded_scale);
text | terms.hpp | larger(1, scale) : scale; | scale : scale;
text | terms.hpp | per_product = 2 * omega; | per_product = omega;
text | terms.hpp | score_absolute += omega * other * query_norm, | score_absolute += 0,
text | terms.hpp | per_key_norm += rounded_up(omega * other); | per_key_norm += 0;
text | terms.hpp | double const other = larger(1, root(scale) * (1 + 0x1p-40)); | double const other = 1;
text | terms.hpp | per_key_norm += omega; | per_key_norm += 0.5 * omega;
text | terms.hpp | score_absolute += omega * (scale * query_norm + 1), | score_absolute += omega,
text | terms.hpp | (scale * query_norm + 1), | (scale * query_norm),
text | terms.hpp | per_key_norm += rounded_up(omega * scale); | per_key_norm += 0;
text | formulas-inl.hpp | (1 + terms.model.e_c) * product + terms.model.e_c | product + terms.model.e_c
text | formulas-inl.hpp | + terms.model.e_c * capped_upper(terms, key) + terms.cap | + terms.cap
text | terms.hpp | cap_absolute = softcap * model.a_t + | cap_absolute =
text | terms.hpp | softcap * model.a_t + (1 + softcap) * omega; | softcap * model.a_t;
text | formulas-inl.hpp | (product + terms.model.g_b * bias) | product
text | formulas-inl.hpp | + terms.e_s * key.score_upper + terms.model.omega_s | + terms.model.omega_s
text | formulas-inl.hpp | key.score_upper + terms.model.omega_s) * | key.score_upper) *
text | formulas-inl.hpp | ((1 + terms.e_s) * (product | ((product
text | terms.hpp | compounded(gamma(model.k_add, u), model.u_s) : model.u_s; | gamma(model.k_add, u) : model.u_s;
text | terms.hpp | compounded(gamma(model.k_add, u), model.u_s) : model.u_s; | compounded(gamma(model.k_add, u), model.u_s) : 0;
text | formulas-inl.hpp | above = larger(above, rounded_up(key.x_upper + E)); | above = larger(above, key.x_upper);
text | formulas-inl.hpp | below = larger(below, rounded_down(key.x_lower - E)); | below = larger(below, key.x_lower);
text | terms.hpp | larger(max_upper + max_above, max_upper + absolute(max_below)); | max_upper;
text | terms.hpp | gamma(model.c_m, f.u) * (1 + gamma_x) : 0; | 0.5 * gamma(model.c_m, f.u) * (1 + gamma_x) : 0;
text | terms.hpp | gamma(model.c_m, f.u) * (1 + gamma_x) : 0; | gamma(model.c_m, f.u) : 0;
text | formulas-inl.hpp | my.Y = larger(key.score_upper + E + model.tau, R(terms.largest_max)); | my.Y = key.score_upper + E + model.tau;
text | formulas-inl.hpp | my.Y = larger(key.score_upper + E + model.tau, | my.Y = larger(key.score_upper + model.tau,
text | formulas-inl.hpp | my.Y = larger(key.score_upper + E + model.tau, | my.Y = larger(key.score_upper + E,
text | formulas-inl.hpp | my.Y = larger(key.score_upper + E + model.tau, | my.Y = larger(E + model.tau,
text | terms.hpp | g = reference_error_at(found.reach_of_L); | g = 0.5 * reference_error_at(found.reach_of_L);
text | formulas-inl.hpp | auto const in_L = logical_not(rounded_up(key.x_upper + E) < R(terms.max_below)); | auto const in_L = logical_not(key.x_upper < R(terms.max_below));
text | formulas-inl.hpp | product_upper) + E * (1 + 0x1p-50)); | product_upper));
text | terms.hpp | g_plus = larger(g, reference_error_at(found.reach_of_unmasked)); | g_plus = g;
text | terms.hpp | padded = limit < g && found.reach_of_unbiased == 0; | padded = limit < g;
text | terms.hpp | largest_Y = larger(found.reach_of_L + model.tau, largest_max); | largest_Y = found.reach_of_L;
text | terms.hpp | least_sum = g > 0.5 ? 0.5 / exp_upper(g - 0.5) : 0.5; | least_sum = 0.5;
text | terms.hpp | least_sum *= 0.75; | least_sum *= 1;
text | terms.hpp | theta = smaller(stable ? 0.5 : reference_limit(), theta); | theta = 0;
text | terms.hpp | exp_upper(model.tau + theta) : 1; | exp_upper(theta) : 1;
text | terms.hpp | omega_w = f.omega_w * largest_weight; | omega_w = 0.5 * f.omega_w * largest_weight;
text | terms.hpp | omega_w = larger(omega_w, 2 * model.omega_p * largest_weight); | omega_w = larger(omega_w, model.omega_p * largest_weight);
text | terms.hpp | omega_w / least_sum * (1 + 0x1p-50); | omega_w * (1 + 0x1p-50);
text | row.hpp | above_it > 0 ? above_it - 1 : 0 | above_it > 1 ? above_it - 2 : 0
text | row.hpp | sorted_.push_back(rounded_up(keys[j].x_upper + keys_[j].E)); | sorted_.push_back(keys[j].x_upper);
text | row.hpp | double const lowest = rounded_down(keys[j].x_lower - keys_[j].E); | double const lowest = keys[j].x_lower;
text | row.hpp | rank + terms_.lazy_merges() | rank
text | row.hpp | terms_.always_rescales() ? most : smaller( | smaller(
text | terms.hpp | return blocks - 1 + static_cast<double>(model.splits - 1); | return larger(0, blocks - 2) + static_cast<double>(model.splits - 1);
text | terms.hpp | return blocks - 1 + static_cast<double>(model.splits - 1); | return blocks - 1;
text | terms.hpp | ? static_cast<double>((m + model.block - 1) / model.block) | ? static_cast<double>(larger(1, m / model.block))
text | terms.hpp | return model.merges + larger(records, | return larger(records,
text | terms.hpp | return model.merges + larger(records, | return model.merges + larger(0,
text | terms.hpp | larger(records, static_cast<double>((m + model.least_block - 1) / model.least_block - 1)); | records;
text | terms.hpp | model.order == problem::key_order::index && !always_rescales(); | model.order == problem::key_order::index;
text | terms.hpp | model.order == problem::key_order::index && !always_rescales(); | !always_rescales();
text | records.hpp | lanes <= most_lanes; lanes *= 2 | lanes <= 1; lanes *= 2
text | records.hpp | {true, false}) { | {true}) {
text | records.hpp | {true, false}) { | {false}) {
text | records.hpp | count[nearest] + 1; | count[nearest];
text | records.hpp | !(highest[nearest] > lowest[j]) | !(highest[nearest] > highest[j])
text | row.hpp | highest[j] = rounded_up(keys[j].x_upper + keys_[j].E); | highest[j] = keys[j].x_upper;
text | row.hpp | lowest[j] = rounded_down(keys[j].x_lower - keys_[j].E); | lowest[j] = keys[j].x_lower;
text | formulas-inl.hpp | my.X = rounded_up(terms.max_above - key.x_lower) + E + | my.X = -key.x_lower + E +
text | formulas-inl.hpp | key.x_lower) + E + terms.X_extra; | key.x_lower) + terms.X_extra;
text | formulas-inl.hpp | key.x_lower) + E + terms.X_extra; | key.x_lower) + E;
text | terms.hpp | X_extra = 2 * model.tau * (1 + 2 * u) + ell; | X_extra = 2 * model.tau + ell;
text | terms.hpp | X_extra = 2 * model.tau * (1 + 2 * u) + ell; | X_extra = 2 * model.tau * (1 + 2 * u);
text | terms.hpp | X_extra = 2 * model.tau * (1 + 2 * u) + ell; | X_extra = model.tau * (1 + 2 * u) + ell;
text | formulas-inl.hpp | my.z = (E + terms.gamma_x * my.X + | my.z = (terms.gamma_x * my.X +
text | formulas-inl.hpp | my.z = (E + terms.gamma_x * my.X + | my.z = (E +
text | formulas-inl.hpp | (rescales + 1) * terms.eps_hat | rescales * terms.eps_hat
text | formulas-inl.hpp | (rescales + 1) * terms.eps_hat | terms.eps_hat
text | formulas-inl.hpp | terms.eps_hat + terms.z_extra + | terms.eps_hat +
text | formulas-inl.hpp | (terms.z_per_Y * my.Y + terms.z_merge)) * | terms.z_merge) *
text | formulas-inl.hpp | (terms.z_per_Y * my.Y + terms.z_merge)) * | terms.z_per_Y * my.Y) *
text | terms.hpp | z_extra = model.p_shared ? model.u_p / (1 - model.u_p) * (1 + 0x1p-50) : 0; | z_extra = 0;
text | terms.hpp | z_extra += (R + 1) * model.k_x * f.omega; | z_extra += R * model.k_x * f.omega;
text | terms.hpp | z_extra += (R + 1) * model.k_x * f.omega; | z_extra += (R + 1) * f.omega;
text | terms.hpp | model.k_x > 1) z_extra | model.k_x > 2) z_extra
text | terms.hpp | eps_hat = model.eps / (1 - model.eps) * (1 + 0x1p-50); | eps_hat = model.eps;
text | terms.hpp | gamma(model.k_lse < 2 ? 2 : model.k_lse, u), levels | gamma(model.k_lse, u), levels
text | terms.hpp | levels * (rounded + gamma(model.k_lse - 1, u)); | levels * gamma(model.k_lse - 1, u);
text | terms.hpp | levels * (rounded + gamma(model.k_lse - 1, u)); | levels * rounded;
text | terms.hpp | levels * (rounded + gamma(model.k_lse - 1, u)); | rounded + gamma(model.k_lse - 1, u);
text | terms.hpp | levels * (rounded * ell + model.eps_log * ell + eps_hat); | levels * (model.eps_log * ell + eps_hat);
text | terms.hpp | levels * (rounded * ell + model.eps_log * ell + eps_hat); | levels * (rounded * ell + eps_hat);
text | terms.hpp | levels * (rounded * ell + model.eps_log * ell + eps_hat); | levels * (rounded * ell + model.eps_log * ell);
text | terms.hpp | levels * (rounded * ell + model.eps_log * ell + eps_hat); | rounded * ell + model.eps_log * ell + eps_hat;
text | terms.hpp | log_upper(n) + 1 + model.tau + g_plus : 0; | 1 + model.tau + g_plus : 0;
text | terms.hpp | log_upper(n) + 1 + model.tau + g_plus : 0; | log_upper(n) + model.tau + g_plus : 0;
text | terms.hpp | log_upper(n) + 1 + model.tau + g_plus : 0; | log_upper(n) + 1 + g_plus : 0;
text | terms.hpp | log_upper(n) + 1 + model.tau + g_plus : 0; | log_upper(n) + 1 + model.tau : 0;
text | formulas-inl.hpp | my.X * (1 + terms.gamma_x) + my.reference_error; | my.X * (1 + terms.gamma_x);
text | formulas-inl.hpp | my.far = terms.far_limit < X_hat; | my.far = 2 * terms.far_limit < X_hat;
text | terms.hpp | far_limit = smaller(far_limit, -log_upper(model.omega_p / model.u_p)); | far_limit = f.far;
text | formulas-inl.hpp | my.flushed = either(model.x0 < X_hat, | my.flushed = either(R(1) < R(0),
text | formulas-inl.hpp | R(terms.max_below - model.format.h0_limit / 64)); | R(-infinity));
text | formulas-inl.hpp | my.T = select(my.flushed, larger(my.T, R(1)), my.T); | my.T = my.T;
text | formulas-inl.hpp | my.z / (1 - smaller(my.z, R(1)) * 0.5) | my.z
text | formulas-inl.hpp | exp_upper(rounded_up(key.x_upper + my.z)) / | exp_upper(key.x_upper) /
text | formulas-inl.hpp | exp_upper(rounded_up(key.x_upper + my.z)) / terms.normaliser_lower); | exp_upper(rounded_up(key.x_upper + my.z)) / terms.n);
text | formulas-inl.hpp | my.P = select(my.small, my.U, smaller(R(1), my.U)); | my.P = select(my.small, my.U, smaller(R(0.5), my.U));
text | formulas-inl.hpp | my.U = key.weight_upper * select(my.small, my.T, R(1)); | my.U = key.weight_lower * select(my.small, my.T, R(1));
text | formulas-inl.hpp | n_far + select(my.far, R(1), R(0)); | n_far + select(my.far, R(0.5), R(0));
text | formulas-inl.hpp | key.weight_lower / (1 + my.T) | key.weight_lower
text | formulas-inl.hpp | logical_not(either(my.far, my.flushed))); | logical_not(my.flushed));
text | formulas-inl.hpp | logical_not(either(my.far, my.flushed))); | logical_not(my.far));
text | formulas-inl.hpp | select(near, smaller(R(1), my.T), R(1)); | select(near, smaller(R(1), my.T), R(0));
text | formulas-inl.hpp | (weight_upper + P) / terms.D_lower + select | weight_upper / terms.D_lower + select
text | formulas-inl.hpp | (weight_upper + P) / terms.D_lower + select(far, R(terms.far_share()), R(0))); | (weight_upper + P) / terms.D_lower);
text | formulas-inl.hpp | (weight_upper + P) / terms.D_lower + | (weight_upper + P) +
text | formulas-inl.hpp | rounded_down(key.x_lower - E - my.reference_error) * | rounded_down(key.x_lower - my.reference_error) *
text | formulas-inl.hpp | rounded_down(key.x_lower - E - my.reference_error) * | rounded_down(key.x_lower - E) *
text | formulas-inl.hpp | rounded_up(key.x_upper + (E + reference_error))); | rounded_up(key.x_upper + 0.5 * (E + reference_error)));
text | formulas-inl.hpp | rounded_up(key.x_upper + (E + reference_error))); | rounded_up(key.x_upper + reference_error));
text | formulas-inl.hpp | rounded_up(key.x_upper + (E + reference_error))); | rounded_up(key.x_upper + E));
text | formulas-inl.hpp | ((1 - 2 * terms.gamma_x) * (1 - 0x1p-50)) + | (1 - terms.gamma_x) +
text | formulas-inl.hpp | (1 - 0x1p-50)) + terms.eta_extra; | (1 - 0x1p-50));
text | terms.hpp | eta_extra = 2 * gamma_x * (model.tau + ell) + | eta_extra =
text | terms.hpp | eta_extra = 2 * gamma_x * (model.tau + ell) + | eta_extra = 2 * gamma_x * model.tau +
text | terms.hpp | + 2 * (R + 1) * eps_hat + 2 * z_extra + merge_error; | + 2 * z_extra + merge_error;
text | terms.hpp | + 2 * (R + 1) * eps_hat + 2 * z_extra + merge_error; | + 2 * (R + 1) * eps_hat + z_extra + merge_error;
text | terms.hpp | + 2 * (R + 1) * eps_hat + 2 * z_extra + merge_error; | + 2 * (R + 1) * eps_hat + 2 * z_extra;
text | formulas-inl.hpp | if (terms.by_lse()) | if (false)
text | formulas-inl.hpp | exp_upper(exponent)) + terms.far_share()); | exp_upper(exponent)));
text | column_formulas-inl.hpp | average = mul_add(weight_upper, size, average); | average = mul_add(weight_lower, size, average);
text | column_formulas-inl.hpp | weighted = mul_add(P, distance, weighted); | weighted = mul_add(0.5 * P, distance, weighted);
text | column_formulas-inl.hpp | weighted_size = mul_add(P, size_distance, weighted_size); | weighted_size = mul_add(0.5 * P, size_distance, weighted_size);
text | column_formulas-inl.hpp | (weighted + terms.sum_P * width) / terms.D_lower | (weighted + terms.sum_P * width)
text | column_formulas-inl.hpp | (weighted + terms.sum_P * width) / terms.D_lower | weighted / terms.D_lower
text | column_formulas-inl.hpp | + terms.n_far * terms.far_share() * hull) * terms.slack; | ) * terms.slack;
text | column_formulas-inl.hpp | rounded_up(farthest) + width; | rounded_up(farthest) * 0.5 + width;
text | column_formulas-inl.hpp | (rounded_up(dominant) + width + dominated + sum_eta * width) | (width + dominated + sum_eta * width)
text | column_formulas-inl.hpp | (rounded_up(dominant) + width + dominated + sum_eta * width) | (rounded_up(dominant) + width + sum_eta * width)
text | column_formulas-inl.hpp | (rounded_up(dominant) + width + dominated + sum_eta * width) | (rounded_up(dominant) + width + dominated)
text | column_formulas-inl.hpp | dominated = mul_add(eta, distance, dominated); | dominated = mul_add(0.5 * eta, distance, dominated);
text | column_formulas-inl.hpp | dominated_size = mul_add(eta, size_distance, dominated_size); | dominated_size = mul_add(0.5 * eta, size_distance, dominated_size);
text | terms.hpp | const chain = n - 1; | const chain = (n - 1) / 2;
text | terms.hpp | / model.height_divisor + model.height_base)); | / model.height_divisor));
text | terms.hpp | smaller(chain, block + blocks - 2); | smaller(chain, blocks - 1);
text | terms.hpp | merges_L = S > 1 && !by_lse() ? S : S - 1; | merges_L = S - 1;
text | terms.hpp | S - 1 + static_cast<double>(model.merge_levels) * (model.k_f + 1) : merges_L) + divisions; | S - 1 : merges_L) + divisions;
text | terms.hpp | static_cast<double>(model.merge_levels) * (model.k_f + 1) : merges_L) + divisions; | static_cast<double>(model.merge_levels) * (model.k_f + 1) : merges_L);
text | terms.hpp | static_cast<double>(model.merge_levels) * (model.k_f + 1) | static_cast<double>(model.merge_levels) * model.k_f
text | terms.hpp | u_p = model.p_shared ? 0 : model.u_p; | u_p = 0;
text | terms.hpp | u_pv = larger(u, model.u_pv); | u_pv = u;
text | terms.hpp | longest = gamma(height + R + merges_L, f.u); | longest = gamma(R + merges_L, f.u);
text | terms.hpp | longest = gamma(height + R + merges_L, f.u); | longest = gamma(height + merges_L, f.u);
text | terms.hpp | longest = gamma(height + R + merges_L, f.u); | longest = gamma(height + R, f.u);
text | formulas-inl.hpp | gamma_on(terms.height + terms.merges_L + rescales, u); | gamma_on(terms.height + terms.merges_L, u);
text | formulas-inl.hpp | gamma_on(terms.height + terms.merges_L + rescales, u); | gamma_on(terms.merges_L + rescales, u);
text | formulas-inl.hpp | share * gamma_on(terms.merges_L + rescales, u); | share * gamma_on(terms.merges_L, u);
text | formulas-inl.hpp | share * gamma_on(terms.merges_L + rescales, u); | share * gamma_on(rescales, u);
text | formulas-inl.hpp | smaller(R(1), share * (terms.n / u)); | smaller(R(0.5), share * (terms.n / u));
text | formulas-inl.hpp | smaller(R(1), share * (terms.n / u)); | smaller(R(1), share / u);
text | terms.hpp | found.nodes - smaller(1, found.largest_share * (n / f.u)) | found.nodes - 2 * smaller(1, found.largest_share * (n / f.u))
text | terms.hpp | found.rescaled * slack + (1 + longest) | (1 + longest)
text | terms.hpp | (1 + longest) * (1 + longest) * f.u * nodes_L; | 0.5 * (1 + longest) * (1 + longest) * f.u * nodes_L;
text | terms.hpp | (1 + longest) * (1 + longest) * f.u * nodes_L; | f.u * nodes_L;
text | terms.hpp | 4 * (n + S + divisions) * f.omega / least_sum * (1 + 0x1p-50); | 2 * (n + S + divisions) * f.omega / least_sum * (1 + 0x1p-50);
text | terms.hpp | 4 * (n + S + divisions) * f.omega / least_sum * (1 + 0x1p-50); | 4 * (n + S) * f.omega / least_sum * (1 + 0x1p-50);
text | terms.hpp | compounded(sums, gamma_C) : sums; | sums : sums;
text | terms.hpp | beside = R + 1 + model.k_pre + merges_O; | beside = 1 + model.k_pre + merges_O;
text | terms.hpp | beside = R + 1 + model.k_pre + merges_O; | beside = R + model.k_pre + merges_O;
text | terms.hpp | beside = R + 1 + model.k_pre + merges_O; | beside = R + 1 + merges_O;
text | terms.hpp | beside = R + 1 + model.k_pre + merges_O; | beside = R + 1 + model.k_pre;
text | terms.hpp | compounded(gamma(short_sums, u_pv), gamma(promotions + beside, u)) : | gamma(promotions + beside, u) :
text | terms.hpp | compounded(gamma(short_sums, u_pv), gamma(promotions + beside, u)) : | compounded(gamma(short_sums, u_pv), gamma(beside, u)) :
text | terms.hpp | : gamma(height + beside, u_pv); | : gamma(beside, u_pv);
text | terms.hpp | gamma_O = compounded(u_p, gamma_h); | gamma_O = gamma_h;
text | terms.hpp | node_factor = (1 + u_p) * (1 + gamma_h) * (1 + gamma_h) * u_pv * up; | node_factor = u_pv * up;
text | terms.hpp | node_factor = (1 + u_p) * (1 + gamma_h) * (1 + gamma_h) * u_pv * up; | node_factor = 0.5 * (1 + u_p) * (1 + gamma_h) * (1 + gamma_h) * u_pv * up;
text | formulas-inl.hpp | gamma_on(1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv); | gamma_on(terms.model.k_pre + terms.merges_O + rescales, terms.u_pv);
text | formulas-inl.hpp | gamma_on(1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv); | gamma_on(1 + terms.merges_O + rescales, terms.u_pv);
text | formulas-inl.hpp | gamma_on(1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv); | gamma_on(1 + terms.model.k_pre + rescales, terms.u_pv);
text | formulas-inl.hpp | gamma_on(1 + terms.model.k_pre + terms.merges_O + rescales, terms.u_pv); | gamma_on(1 + terms.model.k_pre + terms.merges_O, terms.u_pv);
text | formulas-inl.hpp | (terms.u_p + g + terms.u_p * g) | g
text | column_formulas-inl.hpp | R N = terms.height * A_abs; | R N = 0.5 * terms.height * A_abs;
text | column_formulas-inl.hpp | (terms.n - 1) * ((A_abs + o_size + A) * 0.5 + | (terms.n - 1) * ((A_abs + A) * 0.5 +
text | column_formulas-inl.hpp | (terms.n - 1) * ((A_abs + o_size + A) * 0.5 + | (terms.n - 1) * ((A_abs + o_size) * 0.5 +
text | column_formulas-inl.hpp | + (terms.gamma_h + terms.u_p) * A_abs)); | + terms.gamma_h * A_abs));
text | column_formulas-inl.hpp | + (terms.gamma_h + terms.u_p) * A_abs)); | + terms.u_p * A_abs));
text | column_formulas-inl.hpp | if (!(terms.model.format.u < terms.u_pv)) N | if (true) N
text | column_formulas-inl.hpp | larger(A_abs, sizes.largest) * terms.nodes_L | A_abs * terms.nodes_L
text | column_formulas-inl.hpp | sizes.shared + terms.node_factor * N; | terms.node_factor * N;
text | column_formulas-inl.hpp | sizes.shared + terms.node_factor * N; | sizes.shared;
text | column_formulas-inl.hpp | terms.model.promote > 0 ? by_path : smaller(by_path, by_node) | smaller(by_path, by_node)
text | column_formulas-inl.hpp | ? sums + (1.01 * terms.combine_error) * A_abs : sums; | ? sums : sums;
text | terms.hpp | gamma_F = gamma(model.k_f, f.u); | gamma_F = 0;
text | terms.hpp | levels * (model.eps + model.k_x * smaller( | levels * (model.k_x * smaller(
text | terms.hpp | levels * (model.eps + model.k_x * smaller( | levels * (model.eps + smaller(
text | terms.hpp | levels * gamma(smaller(S, n) - 1, f.u) + lse_errors; | lse_errors;
text | terms.hpp | levels * gamma(smaller(S, n) - 1, f.u) + lse_errors; | levels * gamma(smaller(S, n) - 1, f.u);
text | terms.hpp | z_per_Y * largest_Y + levels * (rounded + model.eps_log) * ell; | levels * (rounded + model.eps_log) * ell;
text | terms.hpp | z_per_Y * largest_Y + levels * (rounded + model.eps_log) * ell; | z_per_Y * largest_Y;
text | terms.hpp | gamma_C = xi < 1 ? xi / (1 - xi) | gamma_C = xi < 1 ? xi
text | formulas-inl.hpp | largest_near_X = larger(largest_near_X, select(my.far, R(0), my.X)); | largest_near_X = R(0);
text | terms.hpp | lost_in_sums = 4 * (n + S + divisions) | lost_in_sums = 4 * n
text | terms.hpp | lost_in_sums = 4 * (n + S + divisions) | lost_in_sums = 4 * (n + S)
text | terms.hpp | f.omega / least_sum * up; | f.omega * up;
text | terms.hpp | (model.k_pre > 0 ? third * f.omega : 0) + model.omega_p | model.omega_p
text | terms.hpp | model.omega_p * kappa_p) * up; | 0.5 * model.omega_p * kappa_p) * up;
text | terms.hpp | normalised_first::no    ? divided | normalised_first::no    ? third
text | terms.hpp | : larger(third, divided); | : smaller(third, divided);
text | terms.hpp | double const third = 4.0 / 3 * up; | double const third = 1;
text | terms.hpp | e_above / (normaliser_lower * D_lower) : infinity) | 1 / (normaliser_lower * D_lower) : infinity)
text | terms.hpp | e_above / (normaliser_lower * D_lower) : infinity) | e_above / normaliser_lower : infinity)
text | terms.hpp | e_above = max_above < 1 ? 1 / (1 - max_above) : infinity; | e_above = 1 + max_above;
text | column_formulas-inl.hpp | terms.lost_beside_values * sizes.sum; | terms.lost_beside_values * sizes.largest;
text | column_formulas-inl.hpp | omega_O = terms.lost_in_sums + | omega_O =
text | column_formulas-inl.hpp | double const omega_F = 2 * f.omega; | double const omega_F = f.omega;
text | column_formulas-inl.hpp | ((1 + terms.gamma_F) * (sum_error( | ((sum_error(
text | column_formulas-inl.hpp | (o_size + A) * (terms.gamma_L + terms.gamma_F)) / | o_size * (terms.gamma_L + terms.gamma_F)) /
text | column_formulas-inl.hpp | (o_size + A) * (terms.gamma_L + terms.gamma_F)) / | (o_size + A) * terms.gamma_F) /
text | column_formulas-inl.hpp | (o_size + A) * (terms.gamma_L + terms.gamma_F)) / | (o_size + A) * terms.gamma_L) /
text | column_formulas-inl.hpp | (sum_error(terms, sizes, A, A_abs, o_size) + omega_O) + | sum_error(terms, sizes, A, A_abs, o_size) +
text | column_formulas-inl.hpp | (sum_error(terms, sizes, A, A_abs, o_size) + omega_O) + | omega_O +
text | column_formulas-inl.hpp | R const A_abs = sizes.average + evaluation + | R const A_abs = evaluation +
text | formulas-inl.hpp | return B * (1 + model.u_out) + | return B +
text | formulas-inl.hpp | + model.u_out * exact_size + model.omega_out; | + model.omega_out;
text | formulas-inl.hpp | + model.u_out * exact_size + model.omega_out; | + model.u_out * exact_size;
text | column_formulas-inl.hpp | ? terms.lse_growth * o_size + | ?
text | column_formulas-inl.hpp | (sizes.shared * (1 + terms.gamma_O) + | (sizes.shared +
text | column_formulas-inl.hpp | + terms.gamma_O * (sizes.average + evaluation)) + | ) +
text | column_formulas-inl.hpp | 4 * terms.n * f.omega + | 2 * terms.n * f.omega +
text | column_formulas-inl.hpp | 2 * terms.n * terms.omega_w * sizes.largest + | terms.n * terms.omega_w * sizes.largest +
text | column_formulas-inl.hpp | model.omega_p * (4.0 / 3) * sizes.sum | 0
text | terms.hpp | lse_growth = lambda < 1 ? lambda / (1 - lambda * 0.5) | lse_growth = lambda < 1 ? lambda
text | formulas-inl.hpp | (E + terms.gamma_x * (terms.lse_above_max | (terms.gamma_x * (terms.lse_above_max
text | formulas-inl.hpp | (terms.lse_above_max + lambda - key.x_lower + E) | (terms.lse_above_max + lambda + E)
text | formulas-inl.hpp | (terms.lse_above_max + lambda - key.x_lower + E) | (terms.lse_above_max - key.x_lower + E)
text | formulas-inl.hpp | (terms.lse_above_max + lambda - key.x_lower + E) | (lambda - key.x_lower + E)
text | formulas-inl.hpp | + E) + reference_error + terms.eps_hat) * | + E) + terms.eps_hat) *
text | formulas-inl.hpp | + E) + reference_error + terms.eps_hat) * | + E) + reference_error) *
text | formulas-inl.hpp | select(underflows, larger(key.weight_upper, U), U); | U;
text | formulas-inl.hpp | R const exact = weight_upper * terms.lse_growth + | R const exact =
text | formulas-inl.hpp | (1 + terms.lse_growth) * lse_error; | lse_error;
text | formulas-inl.hpp | exact + rounded * (weight_upper + exact) + | exact +
text | formulas-inl.hpp | + 2 * omega + terms.omega_w + model.omega_p; | + 2 * omega + model.omega_p;
text | formulas-inl.hpp | + 2 * omega + terms.omega_w + model.omega_p; | + 2 * omega + terms.omega_w;
text | formulas-inl.hpp | ((1 - weight_lower) * P + weight_upper * others) | (weight_upper * others)
text | formulas-inl.hpp | ((1 - weight_lower) * P + weight_upper * others) | ((1 - weight_lower) * P)
text | formulas-inl.hpp | others) / terms.D_lower + terms.n_far * terms.far_share(); | others) / terms.D_lower;
text | formulas-inl.hpp | others) / terms.D_lower + terms.n_far | others) + terms.n_far
text | formulas-inl.hpp | twice = (P * (1 + gamma_W) + | twice = (
text | formulas-inl.hpp | (gamma_W + terms.one_minus_D + terms.gamma_L)) / | (terms.one_minus_D + terms.gamma_L)) /
text | formulas-inl.hpp | (gamma_W + terms.one_minus_D + terms.gamma_L)) / | (gamma_W + terms.gamma_L)) /
text | formulas-inl.hpp | (gamma_W + terms.one_minus_D + terms.gamma_L)) / | (gamma_W + terms.one_minus_D)) /
text | formulas-inl.hpp | (terms.D_lower * (1 - terms.gamma_L)) + | terms.D_lower +
text | formulas-inl.hpp | select(bound.by_theorem, larger(B, twice), B) + | B +
text | formulas-inl.hpp | R const dominated = larger(weight_upper, eta); | R const dominated = weight_upper;
text | formulas-inl.hpp | A + (weight_upper + A) * (terms.gamma_L + gamma_W) / | A + weight_upper * (terms.gamma_L + gamma_W) /
text | formulas-inl.hpp | A + (weight_upper + A) * (terms.gamma_L + gamma_W) / | A + (weight_upper + A) * gamma_W /
text | formulas-inl.hpp | A + (weight_upper + A) * (terms.gamma_L + gamma_W) / | A + (weight_upper + A) * terms.gamma_L /
text | formulas-inl.hpp | B) + (2 * omega + terms.lost_weight); | B) + terms.lost_weight;
text | formulas-inl.hpp | B) + (2 * omega + terms.lost_weight); | B) + 2 * omega;
text | terms.hpp | gamma_W = rounded ? compounded(gamma_F, model.u_p) : gamma_F; | gamma_W = gamma_F;
text | terms.hpp | model.omega_p * larger(third, divided) * up : 0; | model.omega_p * third * up : 0;
text | results.hpp | sum += b.size; | sum = larger(sum, b.size);
text | terms.hpp | log_upper_side = sum_U < 1 ? sum_U : | log_upper_side = sum_U < 1 ? 0 :
text | terms.hpp | smaller(sum_U, log_upper(1 + sum_U)); | log_upper(sum_U);
text | terms.hpp | one_minus_D < 0.5 ? one_minus_D / (1 - one_minus_D) | one_minus_D < 0.5 ? one_minus_D
text | terms.hpp | log_upper(1 / weight_lower) + z); | log_upper(1 / weight_lower));
text | terms.hpp | larger(max_above, -max_below) + 2 * model.tau * (1 + gamma_x) + | 2 * model.tau * (1 + gamma_x) +
text | terms.hpp | + 2 * model.tau * (1 + gamma_x) + larger | + model.tau * (1 + gamma_x) + larger
text | terms.hpp | (1 + gamma_x) + larger(0, log_upper(n)) + | (1 + gamma_x) +
text | terms.hpp | (R + 1) * eps_hat + z_extra + found.kappa_beside_gap + n * far_share(); | z_extra + found.kappa_beside_gap + n * far_share();
text | terms.hpp | (R + 1) * eps_hat + z_extra + found.kappa_beside_gap + n * far_share(); | (R + 1) * eps_hat + found.kappa_beside_gap + n * far_share();
text | terms.hpp | (R + 1) * eps_hat + z_extra + found.kappa_beside_gap + n * far_share(); | (R + 1) * eps_hat + z_extra + n * far_share();
text | terms.hpp | (R + 1) * eps_hat + z_extra + found.kappa_beside_gap + n * far_share(); | (R + 1) * eps_hat + z_extra + found.kappa_beside_gap;
text | terms.hpp | log_hull = by_lse() ? infinity | log_hull = false ? infinity
text | results.hpp | log_lower_side) + 2 * terms.n_far * terms.far_share() | log_lower_side) + terms.n_far * terms.far_share()
text | results.hpp | larger(terms.log_upper_side, terms.log_lower_side) | terms.log_upper_side
text | results.hpp | larger(terms.log_upper_side, terms.log_lower_side) | terms.log_lower_side
text | results.hpp | terms.log_hull) + terms.gamma_L / (1 - terms.gamma_L); | terms.log_hull);
text | results.hpp | terms.log_hull) + terms.gamma_L / (1 - terms.gamma_L); | terms.log_hull) + terms.gamma_L;
text | results.hpp | (1 + u) * (base + logged) + | (base + logged) +
text | results.hpp | (1 + u) * (base + logged) + | (1 + u) * base +
text | results.hpp | model.eps_log * (terms.lse_above_max + reference | model.eps_log * (reference
text | results.hpp | (terms.lse_above_max + reference + model.tau + base); | (terms.lse_above_max + model.tau + base);
text | results.hpp | (terms.lse_above_max + reference + model.tau + base); | (terms.lse_above_max + reference + base);
text | results.hpp | (terms.lse_above_max + reference + model.tau + base); | (terms.lse_above_max + reference + model.tau);
text | results.hpp | gamma(model.k_lse, u) * (terms.lse_upper + base) + | gamma(model.k_lse, u) * terms.lse_upper +
text | results.hpp | gamma(model.k_lse, u) * (terms.lse_upper + base) + | gamma(model.k_lse, u) * base +
text | results.hpp | gamma(model.k_lse - 1, u) * terms.largest_max + | 0 *
text | results.hpp | terms.largest_max + 2 * model.format.omega; | terms.largest_max + model.format.omega;
text | results.hpp | terms.gamma_O + 1.01 * terms.combine_error; | terms.gamma_O;
text | results.hpp | (gamma_O + terms.gamma_L + terms.gamma_F) / | (terms.gamma_L + terms.gamma_F) /
text | results.hpp | (gamma_O + terms.gamma_L + terms.gamma_F) / | (gamma_O + terms.gamma_F) /
text | results.hpp | (gamma_O + terms.gamma_L + terms.gamma_F) / | (gamma_O + terms.gamma_L) /
text | results.hpp | (gamma_O + terms.gamma_L + terms.gamma_F) / (1 - terms.gamma_L) * | (gamma_O + terms.gamma_L + terms.gamma_F) *
text | results.hpp | largest_value * (1 + terms.gamma_F) + | largest_value +
text | results.hpp | terms.lost_in_sums + lost * largest_value + | lost * largest_value +
text | results.hpp | terms.lost_in_sums + lost * largest_value + | terms.lost_in_sums +
text | results.hpp | (model.omega_p / terms.least_sum + (model.k_pre | (0 + (model.k_pre
text | results.hpp | + (model.k_pre > 0 ? model.format.omega : 0)) * | ) *
text | results.hpp | (4.0 / 3) * terms.n; | terms.n;
text | results.hpp | lost * largest_value + 2 * model.format.omega; | lost * largest_value;
text | terms.hpp | in_range = finite_products && scale_upper | in_range = scale_upper
text | terms.hpp | finite_products && scale_upper < f.h0_limit && | finite_products &&
text | terms.hpp | larger(query_norm, found.largest_norm) * folded < f.h0_limit; | true;
text | terms.hpp | larger(query_norm, found.largest_norm) * folded < f.h0_limit; | larger(query_norm, found.largest_norm) < f.h0_limit;
text | terms.hpp | larger(query_norm, found.largest_norm) * folded < f.h0_limit; | query_norm * folded < f.h0_limit;
text | terms.hpp | larger(query_norm, found.largest_norm) * folded < f.h0_limit; | found.largest_norm * folded < f.h0_limit;
text | terms.hpp | found.largest_size < f.h0_limit && | true &&
text | formulas-inl.hpp | larger(larger(largest_size, key.product_upper), larger( | larger(largest_size, larger(
text | terms.hpp | keys_without_weight_in_range(model, *this) && | true &&
text | terms.hpp | larger(row.lost_upper, folded) < | row.lost_upper <
text | terms.hpp | larger(row.lost_upper, folded) < | folded <
text | terms.hpp | f.omega_w * 0.5 <= softcap && softcap < | softcap <
text | terms.hpp | f.omega_w * 0.5 <= softcap && softcap < f.h0_limit | f.omega_w * 0.5 <= softcap
text | terms.hpp | && !(beyond > 0 && limit < reference_error_at(beyond)); | ;
text | terms.hpp | judged = in_range && sums_short && | judged = in_range &&
text | terms.hpp | R * model.eps + 2 * (2 * height | 2 * (2 * height
text | terms.hpp | 2 * (2 * height + R + S + divisions + 8) * f.u | 2 * (2 * height + 8) * f.u
text | terms.hpp | && n_far * far_share() <= 0.5 && | &&
text | terms.hpp | merge_error <= 0.5 && n | n
text | terms.hpp | n * largest_weight < f.h0_limit && | true &&
text | terms.hpp | largest_weight < model.p_limit && | true &&
text | terms.hpp | found.largest_stored < model.s_limit; | true;
text | column_formulas-inl.hpp | both((terms.n * terms.e_tau) * sizes.largest < R(f.h0_limit), bound.size < R(infinity)); | bound.size < R(infinity);
text | column_formulas-inl.hpp | (terms.n * terms.e_tau) * sizes.largest | terms.n * sizes.largest
text | terms.hpp | g_plus > 0 ? e_tau * exp_upper(g_plus) : e_tau; | e_tau;
text | terms.hpp | slack = 1 + (16 * n + 8 * products + 64) * 0x1p-53; | slack = 1;
text | terms.hpp | ku < 1 ? ku / (1 - ku) * (1 + 0x1p-50) : | ku < 1 ? ku :
text | formulas-inl.hpp | ku / (1 - smaller(ku, R(1 - 0x1p-53))) * (1 + 0x1p-50) | ku
text | known_weights.hpp | lowest, rounded_down(key.x_lower - key.E)); | lowest, key.x_lower);
text | known_weights.hpp | highest, rounded_up(key.x_upper + key.E)); | highest, key.x_upper);
text | known_weights.hpp | at.m_lower = at.m_upper = 0, at.highest = terms.max_above; | at.m_lower = at.m_upper = 0;
text | known_weights.hpp | larger(rounded_up(highest - m_lower), rounded_up(m_upper - lowest)); | rounded_up(highest - m_lower);
text | known_weights.hpp | larger(rounded_up(highest - m_lower), rounded_up(m_upper - lowest)); | rounded_up(m_upper - lowest);
text | known_weights.hpp | if (falling) std::ranges::reverse(blocks); | ;
text | known_weights.hpp | at.may_rise = at.lowest < after[t]; | at.may_rise = false;
text | known_weights.hpp | at.may_rise = at.lowest < after[t]; | at.may_rise = at.highest < after[t];
text | known_weights.hpp | at.lowest = larger(at.lowest, before.lowest), at.highest = larger(at.highest, before.highest); | ;
text | known_weights.hpp | larger(terms.max_above, -terms.max_below);  // E_end | 0;
text | known_weights.hpp | known.growth = end_error * (1 + end_error) * up; | known.growth = 0;
text | known_weights.hpp | double const off = key.E + E_t; | double const off = key.E;
text | known_weights.hpp | double const off = key.E + E_t; | double const off = E_t;
text | known_weights.hpp | (off + terms.gamma_x * (off - below) + | (off +
text | known_weights.hpp | + key.reference_error + terms.eps_hat + terms.z_extra) * up; | + terms.eps_hat + terms.z_extra) * up;
text | known_weights.hpp | + key.reference_error + terms.eps_hat + terms.z_extra) * up; | + key.reference_error + terms.z_extra) * up;
text | known_weights.hpp | double const r = rescaled ? (E_t + end_error + | double const r = rescaled ? (end_error +
text | known_weights.hpp | double const r = rescaled ? (E_t + end_error + | double const r = rescaled ? (E_t +
text | known_weights.hpp | terms.gamma_x * (terms.max_above - at.m_lower + E_t) + | 0 +
text | known_weights.hpp | key.reference_error + key.R * terms.eps_hat + terms.z_extra) * | key.R * terms.eps_hat + terms.z_extra) *
text | known_weights.hpp | key.reference_error + key.R * terms.eps_hat + terms.z_extra) * | key.reference_error + terms.z_extra) *
text | known_weights.hpp | key.near && z < 0.0625 && r | z < 0.0625 && r
text | known_weights.hpp | && grid && q_lower > 0) { | && q_lower > 0) {
text | known_weights.hpp | model.u_p, quantum, false); | model.u_p, 0, false);
text | known_weights.hpp | double const p_lower = q_lower * (1 - z) * down; | double const p_lower = q_lower;
text | known_weights.hpp | rounded_to(q_upper * (1 + z * (1 + z)) * up, | rounded_to(q_upper,
text | known_weights.hpp | (0.5 * (b - a)) * up; | 0;
text | known_weights.hpp | double const growth = r * (1 + r); | double const growth = 0;
text | known_weights.hpp | half * (1 + growth) + (most - least)) * up; | half * (1 + growth)) * up;
text | known_weights.hpp | end_error * (1 + end_error) * (1 + model.u_p) + model.u_p; | end_error * (1 + end_error);
text | known_weights.hpp | end_error * (1 + end_error) * (1 + model.u_p) + model.u_p; | model.u_p;
text | known_weights.hpp | key.P * (1 + growth) + | 0 +
text | known_weights.hpp | terms.lost_when_divided) * | 0) *
text | known_weights.hpp | known.hold = unknown_weight <= 0.5; | known.hold = true;
text | known_weights.hpp | model.tau == 0 && | true &&
text | known_weights.hpp | !model.p_shared && | true &&
text | known_weights.hpp | model.k_pre == 0 && | true &&
text | known_weights.hpp | model.splits == 1 && | true &&
text | known_weights.hpp | model.merge == problem::split_merge::raw && | true &&
text | terms.hpp | lost_when_divided = model.omega_p * divided * up; | lost_when_divided = 0.5 * model.omega_p * divided * up;
text | column_formulas-inl.hpp | ((growth + terms.sum_P) * size + (1 + growth) | (growth * size + (1 + growth)
text | column_formulas-inl.hpp | ((growth + terms.sum_P) * size + (1 + growth) | (terms.sum_P * size + (1 + growth)
text | column_formulas-inl.hpp | + (1 + growth) * sums.deviation) / | + sums.deviation) /
text | column_formulas-inl.hpp | + (1 + growth) * sums.deviation) / | ) /
text | column_formulas-inl.hpp | sums.deviation) / terms.D_lower + | sums.deviation) +
text | column_formulas-inl.hpp | far * (2 * largest + size) + evaluation; | evaluation;
text | column_formulas-inl.hpp | far * (2 * largest + size) + evaluation; | far * (largest + size) + evaluation;
text | column_formulas-inl.hpp | A_abs = (1 + growth) * sums.size / terms.D_lower + 2 * far * largest; | A_abs = (1 + growth) * sums.size / terms.D_lower;
text | column_formulas-inl.hpp | A_abs = (1 + growth) * sums.size / terms.D_lower | A_abs = sums.size
text | column_formulas-inl.hpp | B = A + 2 * terms.model.format.omega + | B = A +
text | column_formulas-inl.hpp | (terms.gamma_h * A_abs + terms.lost_in_sums) + | terms.lost_in_sums +
text | column_formulas-inl.hpp | (terms.gamma_h * A_abs + terms.lost_in_sums) + | terms.gamma_h * A_abs +
text | column_formulas-inl.hpp | with_output_rounding(terms.model, B, size) | B
'

# What every edited bound_rows is linked with, the headers that no edit of reference/bound touches, and what the text says.
prepare_text() {
  local include name
  mkdir "$scratch/text"
  for name in reference/compiled/row audit/contract/contract audit/builtin/builtin_model; do
    "$compiler" -std=c++20 -O0 -w -c "${flags[@]}" -I "$root" "$root/$name.cpp" -o "$scratch/text/${name##*/}.o" || return 1
  done
  for include in algorithm cmath random string vector; do echo "#include <$include>"; done >"$scratch/text/unedited.hpp"
  for include in audit/contract/contract_fields reference/attention/attention tests/support/problem_maker; do
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
    "$compiler" "$1/bound_rows.o" "$scratch"/text/{row,contract,builtin_model}.o -o "$1/bound_rows"
}

# 0 where the text finds an unsound number, 1 where none, else the edit does not compile or run.
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
