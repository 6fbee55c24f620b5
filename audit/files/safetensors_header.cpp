#include "audit/files/safetensors_header.hpp"

#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using nlohmann::json;
using problem::error;
using problem::error_code;

/// Follows the events of the parser through the levels that a header may have; the first event that is not in the
/// format stops the parser. It builds no JSON value, so nesting and duplicate keys cannot be overlooked.
class header_reader final : public nlohmann::json_sax<json> {
 public:
  safetensors_header header;
  std::optional<error> why;

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a truth value"); }
  bool binary(binary_t&) override { return value("binary data"); }
  bool number_integer(number_integer_t number) override { return whole_number(number < 0, number_text(number), 0); }
  bool number_unsigned(number_unsigned_t number) override { return whole_number(false, number_text(number), number); }
  bool number_float(number_float_t, string_t const& text) override {
    if (level_ != level::numbers) return value("a number");
    return fail(fmt::format("{} holds {}, which is not a whole number below 2^63", field_, printable(text, 40)));
  }

  bool string(string_t& text) override {
    if (level_ == level::metadata) return header.metadata[key_] = std::move(text), true;
    if (level_ == level::tensor && field_ == "dtype") return entry_->dtype = std::move(text), true;
    return value("a string");
  }

  bool start_object(std::size_t) override {
    if (level_ == level::outside) return level_ = level::top, true;
    if (level_ != level::top) return value("an object");
    if (name_ == "__metadata__") return level_ = level::metadata, true;
    entry_ = &header.tensors[name_];
    has_dtype_ = has_shape_ = has_offsets_ = false;
    level_ = level::tensor;
    return true;
  }

  bool key(string_t& text) override {
    if (level_ == level::top) {
      name_ = std::move(text);
      field_.clear();
      bool const duplicate =
          name_ == "__metadata__" ? std::exchange(has_metadata_, true) : header.tensors.contains(name_);
      return duplicate ? fail("the name occurs twice in the header") : true;
    }
    if (level_ == level::metadata) {
      key_ = std::move(text);
      if (header.metadata.contains(key_)) return fail(fmt::format("key '{}' occurs twice", printable(key_)));
      return true;
    }
    field_ = std::move(text);
    bool* const seen = field_ == "dtype"          ? &has_dtype_
                       : field_ == "shape"        ? &has_shape_
                       : field_ == "data_offsets" ? &has_offsets_
                                                  : nullptr;
    if (!seen) return fail(fmt::format("key '{}' is none of dtype, shape and data_offsets", printable(field_)));
    if (std::exchange(*seen, true)) return fail(fmt::format("key '{}' occurs twice", field_));
    return true;
  }

  bool end_object() override {
    if (level_ == level::tensor) {
      if (!has_dtype_) return fail("dtype is missing");
      if (!has_shape_) return fail("shape is missing");
      if (!has_offsets_) return fail("data_offsets is missing");
    }
    level_ = level_ == level::top ? level::outside : level::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (level_ != level::tensor || field_ == "dtype") return value("an array");
    level_ = level::numbers;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    level_ = level::tensor;
    if (field_ == "data_offsets" && offsets_ != 2)
      return fail(fmt::format("data_offsets has {} numbers, expected 2", offsets_));
    return true;
  }

  bool parse_error(std::size_t position, std::string const&, nlohmann::detail::exception const& thrown) override {
    std::string_view reason = thrown.what();
    if (auto const start = reason.find("] "); start != reason.npos) reason.remove_prefix(start + 2);
    why = error{error_code::unreadable, "",
                fmt::format("the header is not JSON, at its byte {}: {}", position, printable(reason, 200))};
    return false;
  }

 private:
  enum class level { outside, top, metadata, tensor, numbers };

  template <class Number>
  static std::string number_text(Number number) {
    return std::to_string(number);
  }

  bool fail(std::string reason) {
    why = error{error_code::unreadable, printable(name_), std::move(reason)};
    return false;
  }

  /// Rejects a value of kind `found`, where the format expects another kind.
  bool value(std::string_view found) {
    switch (level_) {
      case level::outside:
        why = error{error_code::unreadable, "", fmt::format("the header is {}, expected an object", found)};
        return false;
      case level::top: return fail(fmt::format("is {}, expected an object", found));
      case level::metadata: return fail(fmt::format("key '{}' is {}, expected a string", printable(key_), found));
      case level::tensor:
        return fail(fmt::format("{} is {}, expected {}", field_, found,
                                field_ == "dtype" ? "a string" : "an array of whole numbers"));
      case level::numbers: return fail(fmt::format("{} holds {}, expected whole numbers", field_, found));
    }
    return false;
  }

  bool whole_number(bool negative, std::string const& text, std::uint64_t number) {
    if (level_ != level::numbers) return value("a number");
    if (negative) return fail(fmt::format("{} holds {}, which is negative", field_, text));
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return fail(fmt::format("{} holds {}, which is not below 2^63", field_, text));
    if (field_ == "shape") {
      entry_->shape.push_back(static_cast<std::int64_t>(number));
      return true;
    }
    if (offsets_ < 2) (offsets_ == 0 ? entry_->begin : entry_->end) = number;
    if (++offsets_ > 2) return fail("data_offsets has more than 2 numbers");
    return true;
  }

  level level_ = level::outside;
  std::string name_, key_, field_;  // of the tensor, inside the metadata, inside the tensor
  safetensors_header::entry* entry_ = nullptr;
  bool has_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  std::size_t offsets_ = 0;
};

}  // namespace

problem::result<safetensors_header> parse_safetensors_header(std::string_view text) {
  header_reader reader;
  if (!text.starts_with('{'))
    return error{error_code::unreadable, "", "the header does not begin with '{', so this is not a safetensors file"};
  // The parser takes a zero byte as the end of its input and would ignore the rest.
  if (auto const at = text.find('\0'); at != text.npos)
    return error{error_code::unreadable, "", fmt::format("the header is not JSON: its byte {} is zero", at)};
  if (!json::sax_parse(text, &reader) && !reader.why)
    reader.why = error{error_code::unreadable, "", "the header is not JSON"};
  if (reader.why) return *std::move(reader.why);
  return std::move(reader.header);
}

}  // namespace attest::audit
