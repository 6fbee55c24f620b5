// The zoo for the program: it is in libattest_zoo.so, which the program loads if a command needs it.
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

/// Ensures   an error says where the library was looked for, or cites the loader's message
problem::result<loaded_zoo> load_zoo();

}  // namespace attest::zoo
