// What a failing form needs beside its numbers: features, a mask of some shape, memory of some form.
#pragma once

#include <functional>
#include <vector>

#include "audit/condition/clause.hpp"
#include "audit/condition/question.hpp"

namespace attest::audit {

using form_asker = std::function<answer(call_form const&)>;

/// The traits of memory that a form has, `stride_0` not among them.
std::vector<memory_trait> traits_of(memory_form const& memory);

/// Clauses for the features of `base`, each of which it needs: the feature itself; any of its group, where all others
/// are wrong too; for a mask whose contents do not matter the axes that do, and `base` becomes one with a drawn mask; a
/// negative scale.
/// Requires  `base` is wrong
/// Cost      a question or two each, up to 10 for a mask
std::vector<condition_clause> describe_features(call_form& base, form_asker const& ask);

/// Clauses for the memory form of `base`, each trait of which it needs; `base` becomes one with smaller numbers.
/// Requires  `base` is wrong
/// Cost      some 5 questions; 35 where a distance matters that is no power of two
std::vector<condition_clause> describe_memory(call_form& base, form_asker const& ask, std::int64_t element_bytes);

/// Does one of the clauses imply that this number is above 1?
bool imply_many(std::vector<condition_clause> const& clauses, form_number of, call_form const& base);

}  // namespace attest::audit
