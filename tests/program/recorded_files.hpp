// Recorded files whose empty rows are NaN, and files beside a good one.
#pragma once

#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

/// A file with the problem "good", its right o, and what `line` adds to the tensors t.
inline void write_beside_good(std::string const& name, std::string const& line) {
  have_editor();
  write("good.safetensors", recorded(2, "good."));
  REQUIRE(shell("python3 edit.py good.safetensors " + name + " '" + line + "'").status == 0);
}

}  // namespace attest::tests
