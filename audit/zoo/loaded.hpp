// The zoo as the program has it: in libattest_zoo.so, which it loads where a command needs it.
#pragma once

#include <filesystem>
#include <span>

#include "audit/zoo/zoo.hpp"
#include "problem/result.hpp"

namespace attest::zoo {

struct loaded_zoo {
  std::filesystem::path library;
  std::span<specimen const> specimens;  ///< as long as the program runs
};

/// Ensures   an error says where the library was looked for, or what the loader says about it
problem::result<loaded_zoo> load_zoo();

}  // namespace attest::zoo
