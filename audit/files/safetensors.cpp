#include "audit/files/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/files/safetensors_header.hpp"
#include "audit/support/files.hpp"
#include "audit/support/printable.hpp"
#include "problem/checks.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

constexpr std::size_t length_bytes = 8;  // the header's length, little-endian, before the header

error fault(std::string_view tensor, std::string reason) {
  return {error_code::unreadable, printable(tensor), std::move(reason)};
}

std::string shape_text(std::vector<std::int64_t> const& shape) {
  std::string written = "[";
  for (std::size_t axis = 0; axis < shape.size() && axis < 8; ++axis)
    written += (axis ? ", " : "") + std::to_string(shape[axis]);
  return written + (shape.size() > 8 ? ", …]" : "]");
}

/// The errors of a shape: negative sizes, a product above 2⁶³ − 1 and, for a known dtype, a wrong number of bytes.
std::optional<error> shape_fault(std::string_view name, std::string_view dtype, std::vector<std::int64_t> const& shape,
                                 std::uint64_t bytes) {
  std::int64_t elements = 1;  // a size of 0 counts as 1, since strides are products of the other sizes
  bool empty = false;
  auto const grow = [&](std::int64_t factor) {
    auto const product = problem::checks::multiply_add(elements, factor, 0);
    elements = product.value_or(0);
    return product.has_value();
  };
  for (std::int64_t const size : shape) {
    if (size < 0) return fault(name, fmt::format("size {} of shape {} is negative", size, shape_text(shape)));
    empty = empty || size == 0;
    if (size > 0 && !grow(size)) return fault(name, fmt::format("the sizes {} pass 2^63 elements", shape_text(shape)));
  }
  auto const element = safetensors_element_bytes(dtype);
  if (!element) return std::nullopt;
  if (!grow(static_cast<std::int64_t>(*element)))
    return fault(name, fmt::format("the sizes {} pass 2^63 bytes", shape_text(shape)));
  auto const expected = empty ? 0 : static_cast<std::uint64_t>(elements);
  if (bytes == expected) return std::nullopt;
  return fault(name, fmt::format("shape {} of {} takes {} bytes, found {}", shape_text(shape), dtype, expected, bytes));
}

/// The tensors must fill [0, data_bytes) without overlap or hole.
std::optional<error> offsets_fault(safetensors_header const& header, std::uint64_t data_bytes) {
  struct range {
    std::uint64_t begin, end;
    std::string_view name;
  };
  std::vector<range> ranges;
  for (auto const& [name, entry] : header.tensors) {
    auto const written = fmt::format("data_offsets [{}, {}]", entry.begin, entry.end);
    if (entry.begin > entry.end) return fault(name, written + " run backwards");
    if (entry.end > data_bytes)
      return fault(name, fmt::format("{} pass the end of the data, which has {} bytes: the file is truncated or the "
                                     "header is wrong",
                                     written, data_bytes));
    if (auto why = shape_fault(name, entry.dtype, entry.shape, entry.end - entry.begin)) return why;
    ranges.push_back({entry.begin, entry.end, name});
  }
  std::ranges::sort(ranges, {}, [](range const& r) { return std::pair(r.begin, r.end); });
  std::uint64_t filled = 0;
  std::string_view before;
  for (auto const& [begin, end, name] : ranges) {
    if (begin < filled) return fault(name, fmt::format("its bytes overlap those of '{}'", printable(before)));
    if (begin > filled)
      return fault(name,
                   fmt::format("{} bytes before it belong to no tensor; the format allows no holes", begin - filled));
    filled = end;
    before = name;
  }
  if (filled != data_bytes)
    return fault("", fmt::format("{} bytes at the end of the file belong to no tensor", data_bytes - filled));
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> safetensors_element_bytes(std::string_view dtype) noexcept {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 17> known{{{"F64", 8},
                                                                            {"F32", 4},
                                                                            {"F16", 2},
                                                                            {"BF16", 2},
                                                                            {"BOOL", 1},
                                                                            {"U8", 1},
                                                                            {"I8", 1},
                                                                            {"I16", 2},
                                                                            {"U16", 2},
                                                                            {"I32", 4},
                                                                            {"U32", 4},
                                                                            {"I64", 8},
                                                                            {"U64", 8},
                                                                            {"C64", 8},
                                                                            {"F8_E4M3", 1},
                                                                            {"F8_E5M2", 1},
                                                                            {"F8_E8M0", 1}}};
  for (auto const& [name, bytes] : known)
    if (name == dtype) return bytes;
  return std::nullopt;
}

namespace {

/// What a file of another format is, and how to write it as safetensors. Returns nothing if it looks like none of them.
std::optional<std::string> other_format(std::span<std::byte const> bytes) {
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), std::min<std::size_t>(bytes.size(), 4096));
  bool const is_zip = text.starts_with("PK\x03\x04");
  if (text.starts_with("\x93NUMPY") || (is_zip && text.find(".npy") != text.npos))
    return "is a NumPy file: write it with safetensors.numpy.save_file";
  if (is_zip || (bytes.size() > 1 && text.starts_with("\x80") && text[1] >= 2 && text[1] <= 5))
    return "is a PyTorch pickle: write it with safetensors.torch.save_file";
  return std::nullopt;
}

}  // namespace

result<safetensors_file> parse_safetensors(std::span<std::byte const> bytes) {
  if (bytes.size() < length_bytes)
    return fault("", fmt::format("the file has {} bytes, too few for a safetensors header", bytes.size()));
  std::uint64_t header_bytes = 0;
  for (std::size_t i = length_bytes; i-- > 0;)
    header_bytes = header_bytes << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  auto const rest = bytes.subspan(length_bytes);
  if (!rest.empty() && rest.front() != std::byte{'{'})
    if (auto const format = other_format(bytes)) return fault("", *format);
  if (header_bytes > largest_safetensors_header)
    return fault("", fmt::format("this is hardly a safetensors file: the header claims {} bytes, more than the {} that "
                                 "are allowed",
                                 header_bytes, largest_safetensors_header));
  if (header_bytes > rest.size())
    return fault("", fmt::format("the header claims {} bytes, the file has only {} more", header_bytes, rest.size()));

  auto header = parse_safetensors_header({reinterpret_cast<char const*>(rest.data()), header_bytes});
  if (!header) return std::move(header).why();
  auto const data = rest.subspan(header_bytes);
  if (auto why = offsets_fault(header.value(), data.size())) return *std::move(why);

  safetensors_file parsed;
  parsed.whole = bytes;
  parsed.metadata = std::move(header.value().metadata);
  for (auto& [name, entry] : header.value().tensors)
    parsed.tensors.emplace(name, safetensor{std::move(entry.dtype), std::move(entry.shape),
                                            data.subspan(entry.begin, entry.end - entry.begin)});
  return parsed;
}

result<safetensors_file> read_safetensors(std::filesystem::path const& path) {
  auto file = read_file(path);
  if (!file) return std::move(file).why();
  auto parsed = parse_safetensors(file.value().bytes);
  if (!parsed) {
    auto why = std::move(parsed).why();
    why.argument = name_of_input(path) + (why.argument.empty() ? "" : ": " + why.argument);
    return why;
  }
  parsed.value().owner = std::move(file.value().owner);
  return parsed;
}

result<std::vector<std::byte>> safetensors_bytes(safetensor_map const& tensors, safetensors_metadata const& metadata) {
  using named = safetensor_map::value_type;
  std::vector<named const*> order;
  for (auto const& tensor : tensors) {
    auto const& [name, content] = tensor;
    if (name == "__metadata__") return fault(name, "is the name of the metadata, not of a tensor");
    if (!safetensors_element_bytes(content.dtype))
      return fault(name, "dtype '" + printable(content.dtype) + "' is not known");
    if (auto why = shape_fault(name, content.dtype, content.shape, content.bytes.size())) return *std::move(why);
    order.push_back(&tensor);
  }
  std::ranges::sort(order, {}, [](named const* tensor) {
    return std::pair(-static_cast<int>(*safetensors_element_bytes(tensor->second.dtype)),
                     std::string_view(tensor->first));
  });

  auto header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t data_bytes = 0;
  for (auto const* tensor : order) {
    auto const end = data_bytes + tensor->second.bytes.size();
    header[tensor->first] = {
        {"dtype", tensor->second.dtype}, {"shape", tensor->second.shape}, {"data_offsets", {data_bytes, end}}};
    data_bytes = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (nlohmann::json::exception const&) { return fault("", "a name or a metadata string is not UTF-8"); }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > largest_safetensors_header)
    return fault("", fmt::format("the header would have {} bytes, more than the {} that are allowed", text.size(),
                                 largest_safetensors_header));

  std::vector<std::byte> file_bytes;
  file_bytes.reserve(length_bytes + text.size() + data_bytes);
  for (std::size_t i = 0; i < length_bytes; ++i) file_bytes.push_back(static_cast<std::byte>(text.size() >> (8 * i)));
  auto const append = [&](std::span<std::byte const> bytes) {
    file_bytes.insert(file_bytes.end(), bytes.begin(), bytes.end());
  };
  append(std::as_bytes(std::span(text)));
  for (auto const* tensor : order) append(tensor->second.bytes);
  return file_bytes;
}

std::optional<error> write_safetensors(std::filesystem::path const& path, safetensor_map const& tensors,
                                       safetensors_metadata const& metadata) {
  auto const file_bytes = safetensors_bytes(tensors, metadata);
  if (!file_bytes) return file_bytes.why();
  return write_file(path, file_bytes.value());
}

}  // namespace attest::audit
