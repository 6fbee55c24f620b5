// The cause of the failing inputs in words, as data, and joined over shards.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "audit/report/report.hpp"

namespace attest::audit {

/// "one mistake explains 49 of 49 failing inputs: the band is aligned top-left". Mistakes that explain fewer than half
/// of the inputs, and several that fit the only one, are not said to be the cause.
std::string sentence_of(named_cause const& cause);
/// The sentence, then a line for each further thing that is known: where, and what it does not explain.
std::vector<std::string> lines_of(named_cause const& cause);

/// The findings of inputs that the cause does not explain come first, the waived ones last.
void put_unexplained_first(report& of);

/// "cause" of a JSON report; null where there is none.
nlohmann::ordered_json cause_json(report const& of);

/// The cause of all shards: each mistake explains what it explains in its shards. Shards that name different ones leave
/// several. The only input of a shard, where it fits several, counts for the one that explains the most inputs of all.
/// None where a shard with failing inputs has none.
std::optional<named_cause> joined_cause(std::vector<report> const& shards);

}  // namespace attest::audit
