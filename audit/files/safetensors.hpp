// Safetensors files. Files are hostile input; the functions here check everything in them.
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

#include "audit/files/safetensors_header.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// One tensor of a file: row-major, without gaps, little-endian, at any alignment.
struct safetensor {
  std::string dtype;  ///< as in the file: "F32", "BOOL", …; may be unknown to attest
  std::vector<std::int64_t> shape;
  std::span<std::byte const> bytes;
};

using safetensor_map = std::map<std::string, safetensor, std::less<>>;

/// A file that passed every check of parse_safetensors.
struct safetensors_file {
  safetensor_map tensors;
  safetensors_metadata metadata;
  std::span<std::byte const> whole;          ///< all bytes of the file
  std::shared_ptr<std::byte const[]> owner;  ///< owns the bytes if read_safetensors read them; copies share it
};

/// The largest header, in bytes (the limit of the reference implementation).
inline constexpr std::uint64_t largest_safetensors_header = 100'000'000;

/// The bytes of one element. Returns nothing for a dtype that attest does not know.
std::optional<std::size_t> safetensors_element_bytes(std::string_view dtype) noexcept;

/// Checks a whole file in memory. The result refers to `bytes`.
/// Ensures   names are unique; sizes are ≥ 0 and their product fits in 63 bits. For every known dtype, the number of
///           bytes is exactly the one of the shape. The tensors fill the data without overlap or hole; metadata are
///           strings
/// Cost      memory in proportion to bytes.size(); nested JSON is an error
/// Source    https://github.com/huggingface/safetensors#format
problem::result<safetensors_file> parse_safetensors(std::span<std::byte const> bytes);

/// Reads and checks a file. The argument of an error begins with the path.
problem::result<safetensors_file> read_safetensors(std::filesystem::path const& path);

/// The bytes of a file with these tensors. The same input gives the same bytes; data begins at a multiple of 8 bytes.
/// Requires  dtypes that attest knows (checked), names and metadata in UTF-8 (checked)
/// Ensures   tensors are in decreasing order of element size, then in order of names, so that each one is aligned
problem::result<std::vector<std::byte>> safetensors_bytes(safetensor_map const& tensors,
                                                          safetensors_metadata const& metadata);

/// Writes safetensors_bytes to a file, atomically.
std::optional<problem::error> write_safetensors(std::filesystem::path const& path, safetensor_map const& tensors,
                                                safetensors_metadata const& metadata = {});

}  // namespace attest::audit
