// A report as text for the terminal, and the words and numbers that other forms of a report share with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/report/report.hpp"

namespace attest::audit {

struct sharpness_facts;  // audit/report/verdict_facts.hpp

/// "certified", "refuted" or "undecided".
std::string_view name_of(verdict of) noexcept;

/// The verdict in a sentence (audit/report/verdict.hpp).
std::string verdict_sentence(report const& kernel_report);

/// "ok", "FAILED", "undecided" or "unsupported".
std::string_view state_of(check_result const& row);

/// Warnings about a check that is "ok": the conventions of the contract left all of it open, every bound of an output
/// is dull, or too much of an output lies outside the hypotheses of the bound.
std::vector<std::string> remarks_of(check_result const& row, double outside_limit);

/// The quartiles of bound / |exact| as numbers.
std::string quartile_words(sharpness_facts const& of);

std::int64_t unsupported_cases(report const& kernel_report);

/// The table of checks, the findings, the observations, the verdict.
std::string as_text(report const& kernel_report);

}  // namespace attest::audit
