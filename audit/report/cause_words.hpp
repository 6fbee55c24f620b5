// The cause of the failing inputs in words, as data, and joined over shards.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "audit/report/report.hpp"

namespace attest::audit {

/// "one mistake explains 49 of 49 failing inputs: the band is aligned top-left". A mistake is not called the cause if
/// it explains fewer than half of the inputs, if several mistakes fit the only input, or if no further answer confirms
/// it.
std::string sentence_of(named_cause const& cause);
/// What --accept takes, if one convention explains all failing inputs. Empty for any other cause.
std::vector<std::string> accepted_by(named_cause const& cause);
/// "if that is meant: --accept lse_base=2"; empty if no convention explains the failing inputs.
std::string accepting_words(named_cause const& cause);
/// The sentence, then a line for each further fact: where the kernel is wrong, which inputs stay unexplained, and the
/// accepting words.
std::vector<std::string> lines_of(named_cause const& cause);

/// The findings of inputs that the cause does not explain come first, the waived ones last.
void put_unexplained_first(report& of);

/// "cause" of a JSON report; null if there is none.
nlohmann::ordered_json cause_json(report const& of);

/// The cause of all shards: each mistake explains the sum of what it explains in the shards. If shards name different
/// mistakes, several are left. If the only input of a shard fits several mistakes, it counts for the mistake that
/// explains the most inputs of all shards. Returns nothing if a shard with failing inputs has no cause.
std::optional<named_cause> joined_cause(std::vector<report> const& shards);

}  // namespace attest::audit
