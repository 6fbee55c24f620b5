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

/// A clause for each feature of `base`, which is right without it. The clause names the feature, or its group if all
/// others of the group are wrong too, or a negative scale. For a mask whose contents do not matter it names the axes
/// that do, and `base` gets a drawn mask.
/// Requires  `base` is wrong
/// Cost      a question or two each, up to 10 for a mask
std::vector<condition_clause> describe_features(call_form& base, form_asker const& ask);

/// A clause for each trait of the memory form of `base`, which is right without it. `base` gets smaller numbers.
/// Requires  `base` is wrong
/// Cost      some 5 questions; 35 where a distance matters that is no power of two
std::vector<condition_clause> describe_memory(call_form& base, form_asker const& ask, std::int64_t element_bytes);

/// Does one of the clauses imply that this number is above 1?
bool imply_many(std::vector<condition_clause> const& clauses, form_number of, call_form const& base);

}  // namespace attest::audit
