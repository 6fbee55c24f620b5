// What an audit covered, in sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/report/coverage/coverage.hpp"

namespace attest::audit {

/// "12,000 of 12,400 calls were answered; … pairs and … triples of features …; … elements were judged."
std::string covered_words(coverage const& of);
/// "12 of 34 gradients were judged: of 5 calls, a sample of rows and keys"; empty if all were judged.
std::string sampled_gradients_words(coverage const& of);

/// The rule of three: N independent draws show no defect. A defect that strikes a fraction p ≥ 3/N of such draws would
/// have been met with probability 95 %, since (1 − 3/N)^N < e⁻³ < 0.05. Returns nothing for N < 3.
/// Requires  no answered draw was wrong
/// Ensures   the sentence states the condition: the draws are independent, the defect shows in a judged element
/// Source    Hanley and Lippman-Hand 1983, "If nothing goes wrong, is everything all right?", JAMA 249(13), 1743–1745
std::optional<std::string> rarity_words(std::int64_t answered_draws);

/// "causal, window; causal + mask together; lse in 3 of 40 calls": refused features and outputs. Empty if nothing was
/// refused.
std::string refused_words(coverage const& of);

/// The names that --require-support takes, except sizes: the features of feature_table(), "lse" and "weights".
std::vector<std::string_view> support_names();

/// Why a kernel does not support everything that --require-support names; empty if it does. A feature is supported if a
/// call that has it was answered; an output is supported if no answered call withheld it; a size such as "d=64" is
/// supported if it is in the domain and a call that has it was answered. What was not asked is not supported.
/// Requires  names of support_names(), or sizes; others are said to be unknown
std::string missing_support(coverage const& of, std::span<std::string const> required, call_domain const& domain = {});

}  // namespace attest::audit
