// The contract of a specimen.
#pragma once

#include <string>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/zoo/zoo.hpp"

namespace attest::audit {

/// The contract of specimen::contract: a preset, or the preset before the first space with the fields behind it.
inline problem::result<contract> claim_of(zoo::specimen const& specimen) {
  std::string_view const text = specimen.contract, preset = text.substr(0, text.find(' '));
  if (preset.size() == text.size()) return contract_named(std::string(preset));
  return parse_contract(fmt::format(R"({{"from": "{}", "model": {}}})", preset, text.substr(preset.size())),
                        std::string(specimen.name));
}

}  // namespace attest::audit
