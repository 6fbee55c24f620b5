// The numbers of drawn calls: scales, softcaps, residues of lengths, sizes of values, levels of scores.
#pragma once

#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {

/// Of three scales that a form has, two are drawn: ±2^x with x uniform on [−13, 6], one in 16 is 0. Of three softcaps,
/// two are log-uniform on [0.5, 200].
void draw_parameters(call_form& form, random_stream& random);

/// Gives the lengths of two draws in three the residues `number` mod 64 and 7·number mod 128, so that 128 draws meet
/// each of them. Short lengths stay, and so do
/// n = m and the lengths of a domain with granules.
void set_residues(problem::sizes& s, std::int64_t number, call_domain const& domain);

/// In one call of four V is multiplied by a power of two, up to 2^±90 (f16: 2^±6, f64: 2^±300). In another one a column
/// of Q and K brings all scores to one level in ±1000. The level needs values that the scores may change.
void draw_levels(problem_draft& to, value_form values, random_stream& random);

}  // namespace attest::audit
