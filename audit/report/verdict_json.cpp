#include "audit/report/verdict_json.hpp"

#include <utility>

#include "audit/report/text.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {

nlohmann::ordered_json verdict_json(verdict_facts const& facts) {
  using json = nlohmann::ordered_json;
  json not_judged = json::object(), sizes = json::array(), beside = json::array(), not_asked = json::array();
  for (std::size_t why = 0; why < facts.not_judged.size(); ++why)
    not_judged[not_judged_names[why]] = facts.not_judged[why];
  for (sharpness_facts const& size : facts.sizes)
    sizes.push_back({{"output", size.output},
                     {"keys", size.keys},
                     {"judged", size.judged},
                     {"dull", size.dull},
                     {"quartiles", {hex(size.quartiles[0]), hex(size.quartiles[1]), hex(size.quartiles[2])}}});
  for (preset_comparison const& preset : facts.beside)
    beside.push_back({{"preset", preset.preset},
                      {"compared", preset.compared},
                      {"outside", preset.outside},
                      {"worst_in_bounds", hex(preset.worst)}});
  json systematic = json::array();
  auto const mean = [](mean_error const& of) {
    return json{{"mean_ulp", hex(of.mean)}, {"standard_error_ulp", hex(of.standard_error)}};
  };
  for (systematic_facts const& of : facts.systematic)
    systematic.push_back({{"output", of.output},
                          {"type", of.type},
                          {"calls", of.calls},
                          {"rows", of.rows},
                          {"elements", of.elements},
                          {"upwards", mean(of.upwards)},
                          {"away_from_0", mean(of.away_from_0)},
                          {"noted", of.noted}});
  for (omission const& omitted : facts.not_asked) not_asked.push_back({{"what", omitted.what}, {"why", omitted.why}});
  return {{"verdict", name_of(facts.verdict)},
          {"cause", facts.cause},
          {"explained_by", facts.explained_by ? json{{"preset", facts.explained_by->preset},
                                                     {"allows", facts.explained_by->allows},
                                                     {"cases", facts.explained_by->cases},
                                                     {"worst_in_bounds", hex(facts.explained_by->worst)}}
                                              : json()},
          {"contract", facts.contract},
          {"contract_revision", facts.contract_revision ? json(*facts.contract_revision) : json()},
          {"theorem_revision", facts.theorem_revision},
          {"domain", facts.domain},
          {"inputs", {{"given", facts.inputs}, {"answered", facts.answered}, {"failed", facts.failed}}},
          {"judged",
           {{"elements", facts.judged},
            {"by_theorem", facts.by_theorem},
            {"by_dominance", facts.by_dominance},
            {"by_rule", facts.by_rule},
            {"sharp", facts.sharp},
            {"dull", facts.dull},
            {"suspicious", facts.suspicious},
            {"faults", facts.faults},
            {"undecided", facts.undecided},
            {"not_certified", facts.not_certified},
            {"max_error_in_bounds", hex(facts.max_error_in_bounds)}}},
          {"not_judged", std::move(not_judged)},
          {"outside",
           {{"limit", facts.outside_limit},
            {"largest", facts.most_outside ? json{{"check", facts.most_outside->check},
                                                  {"output", facts.most_outside->output},
                                                  {"judged", facts.most_outside->of.judged},
                                                  {"outside", facts.most_outside->of.outside},
                                                  {"share", facts.most_outside->of.share()}}
                                           : json()}}},
          {"sizes", std::move(sizes)},
          {"sharper_presets", std::move(beside)},
          {"systematic_errors", std::move(systematic)},
          {"not_asked", std::move(not_asked)},
          {"sampling", {{"judged_row_in", facts.judged_row_in}, {"compared_row_in", facts.compared_row_in}}},
          {"protections", facts.protections},
          {"missing_protections", facts.missing_protections},
          {"waived", {{"findings", facts.waived}, {"classes", facts.waived_classes}}}};
}

}  // namespace attest::audit
