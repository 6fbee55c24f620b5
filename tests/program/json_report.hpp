// The JSON report of a command.
#pragma once

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using nlohmann::json;

inline json report(std::string const& arguments) { return json::parse(attest(arguments + " --json -").out); }

}  // namespace attest::tests
