// Reports for people and for programs.
#pragma once

#include <cstdio>
#include <string>

#include "audit/findings.hpp"

namespace attest::audit {

inline constexpr char const* version = "0.1.0";

/// "certified", "refuted" or "undecided".
std::string_view name_of(verdict answer) noexcept;

/// The table of checks, the findings, the observations, the verdict.
std::string as_text(report const& what);

/// The schema of docs/audit.md, with a trailing newline. Numbers that matter are hex floats in strings.
std::string as_json(report const& what);

/// x as a C99 hex float; "nan", "inf", "-inf".
std::string hex(double x);

}  // namespace attest::audit
