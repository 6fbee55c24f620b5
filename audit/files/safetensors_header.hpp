// A strict reader of the JSON header of a safetensors file: anything that is not in the format is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "problem/result.hpp"

namespace attest::audit {

using safetensors_metadata = std::map<std::string, std::string, std::less<>>;

struct safetensors_header {
  struct entry {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  ///< as written; parse_safetensors compares them with the file
  };
  std::map<std::string, entry, std::less<>> tensors;
  safetensors_metadata metadata;
};

/// Ensures   no key occurs twice; every tensor has dtype, shape and data_offsets and nothing else; sizes and offsets
///           are whole numbers in [0, 2⁶³); metadata maps strings to strings
problem::result<safetensors_header> parse_safetensors_header(std::string_view json);

}  // namespace attest::audit
