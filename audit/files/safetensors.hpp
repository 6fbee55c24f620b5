// Safetensors files. Everything in a file is hostile until it was checked here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/result.hpp"

namespace attest::audit {

/// One tensor of a file: row-major, without gaps, little-endian, at any alignment.
struct safetensor {
  std::string dtype;  ///< as the file names it: "F32", "BOOL", …; may be one that attest does not know
  std::vector<std::int64_t> shape;
  std::span<std::byte const> bytes;
};

using safetensor_map = std::map<std::string, safetensor, std::less<>>;
using safetensors_metadata = std::map<std::string, std::string, std::less<>>;

/// A file that passed every check of parse_safetensors.
struct safetensors_file {
  safetensor_map tensors;
  safetensors_metadata metadata;
  std::shared_ptr<std::byte const[]> owner;  ///< the bytes, where read_safetensors read them; copies share them
};

/// The header of a file may have at most so many bytes (the limit of the format's own library).
inline constexpr std::uint64_t largest_safetensors_header = 100'000'000;

/// Bytes of one element, or nothing for a dtype that attest does not know.
std::optional<std::size_t> safetensors_element_bytes(std::string_view dtype) noexcept;

/// Checks a whole file in memory. The result refers to `bytes`.
/// Ensures   names are unique; sizes are ≥ 0 and their product fits in 63 bits; for every known dtype the bytes are
///           exactly those of the shape; the tensors fill the data without overlap or hole; metadata are strings
/// Cost      memory in proportion to bytes.size(); nesting is refused, not followed
/// Source    https://github.com/huggingface/safetensors#format
problem::result<safetensors_file> parse_safetensors(std::span<std::byte const> bytes);

/// Reads and checks a file. The error's argument begins with the path.
problem::result<safetensors_file> read_safetensors(std::filesystem::path const& path);

/// The file with these tensors: the same input gives the same bytes, and data begins on a multiple of 8 bytes.
/// Requires  dtypes that attest knows (checked), names and metadata in UTF-8 (checked)
/// Ensures   tensors lie in falling order of element size, then by name, so that each one is aligned
problem::result<std::vector<std::byte>> safetensors_bytes(safetensor_map const& tensors,
                                                          safetensors_metadata const& metadata);

/// safetensors_bytes, written all or nothing.
std::optional<problem::error> write_safetensors(std::filesystem::path const& path, safetensor_map const& tensors,
                                                safetensors_metadata const& metadata = {});

}  // namespace attest::audit
