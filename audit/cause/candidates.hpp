// What a search for a cause chooses from: the suppositions, with the failing cases that each of them explains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/cause/hypotheses/hypothesis.hpp"

namespace attest::audit {

/// A hypothesis or an event, with the tried cases that it explains.
struct candidate {
  std::string name, sentence;
  hypothesis_kind kind = hypothesis_kind::problem;
  audit::hypothesis const* hypothesis = nullptr;  ///< none: an event, or a contract
  std::vector<char> explains;
  std::vector<char> open = {};  ///< cases that it neither explains nor contradicts
  std::int64_t tried_passing = 0, contradicted = 0;
};

std::int64_t count_of(std::vector<char> const& of);

std::vector<char> united(std::vector<char> a, std::vector<char> const& b);

/// How many of the tried cases do they explain together?
std::int64_t explained_by(std::vector<candidate*> const& chosen, std::int64_t tried);

/// Does it explain most of the tried cases, and contradict none of the others?
bool is_uncontradicted(candidate const& one, std::int64_t tried);

/// The first such candidate that explains the most. Null if there is none.
candidate* one_that_nothing_contradicts(std::vector<candidate>& all, std::int64_t tried);

/// Up to three that explain the most together, found greedily; one or two instead if they explain as much. Mistakes
/// with a number that the answers choose come last.
std::vector<candidate*> smallest_set(std::vector<candidate>& all, std::int64_t tried);

/// May these mistakes be the cause together? Each one adds a sixth of the tried cases to the others: fewer may fit a
/// mistake by chance. An answer chooses no number in one of several: with it a mistake may explain another one's cases.
bool fit_together(std::vector<candidate*> const& chosen, std::int64_t tried);

/// Of mistakes that explain a part: without mistakes that right answers contradict and that explain a minority, and
/// without mistakes that add hardly a case to the ones before them. Some wrong numbers are near to any mistake's.
std::vector<candidate*> worth_telling(std::vector<candidate*> const& chosen, std::int64_t tried);

/// Of mistakes that explain equally much, one of the backward pass alone is the simplest there.
void put_backward_first(std::vector<candidate>& all);

}  // namespace attest::audit
