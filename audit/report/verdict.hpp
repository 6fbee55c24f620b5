// A verdict in words: the one place that states its facts. Text, JSON, HTML and JUnit all use say().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "audit/report/verdict_facts.hpp"

namespace attest::audit {

/// A verdict in words.
struct stated_verdict {
  std::string sentence;            ///< the verdict: what was judged, under which contract, what is not claimed
  std::vector<std::string> notes;  ///< a sentence for each further fact that is not 0 or empty
  nlohmann::ordered_json object;   ///< all facts: "evidence" of a JSON report
};
stated_verdict say(verdict_facts const& facts);

/// "; the worst error is 0.25 of its bound". Nothing if a waived finding has the worst error.
std::string worst_error_words(verdict_facts const& facts);

/// "f32 (revision 2)"; without a revision the name alone.
std::string contract_words(std::string const& contract, std::optional<int> revision);

}  // namespace attest::audit
