// The tensors of answers. Their names, shapes and axis order follow the problem in its file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/files/problem_file.hpp"

namespace attest::audit::answers {

/// The three outputs of a problem.
enum kind : std::size_t { o, weights, lse, kinds };
inline constexpr std::string_view names[kinds]{name_of(output_kind::o), name_of(output_kind::weights),
                                               name_of(output_kind::lse)};

/// Shapes and sizes of the outputs of one problem, which have the rank of q; the LSE has one less. There are no weights
/// if rows are packed, nor in a merge. Rows that belong to no query are 0, as they are no answer.
struct shapes {
  std::vector<std::int64_t> of[kinds];
  std::int64_t elements[kinds]{};
  bool has_weights = true;

  explicit shapes(problem_file_entry const& from);

  /// The first element of row `row` (output_row) of an o in the axis order of the file.
  std::size_t place_of_o(std::int64_t row) const noexcept;
  /// The same shapes in the axis order of the file.
  shapes in_file() const;

 private:
  bool is_inside_out() const noexcept;  ///< does a file have the heads inside the rows?

  axis_order order_;
  bool packed_;
};

/// The tensors of the result. It owns the bytes to which the writer's map of spans points.
class tensors {
 public:
  template <class E>
  std::shared_ptr<std::vector<E>> add(std::string name, std::vector<std::int64_t> const& shape, std::int64_t elements,
                                      E fill) {
    auto data = std::make_shared<std::vector<E>>(static_cast<std::size_t>(elements), fill);
    map_[std::move(name)] = {std::string(problem::row_of(problem::type_of<E>).dtype), shape,
                             std::as_bytes(std::span(*data))};
    owners_.push_back(data);
    return data;
  }
  /// Adds a compact tensor of floating type.
  void add(std::string name, owned_tensor tensor) {
    auto const kept = std::make_shared<owned_tensor>(std::move(tensor));
    auto const& [rank, shape, stride] = kept->layout;
    map_[std::move(name)] = {std::string(problem::row_of(kept->type).dtype),
                             std::vector<std::int64_t>(shape.begin(), shape.begin() + rank), std::span(kept->bytes)};
    owners_.push_back(kept);
  }
  problem::result<std::vector<std::byte>> file(safetensors_metadata const& metadata) const {
    return safetensors_bytes(map_, metadata);
  }

 private:
  safetensor_map map_;
  std::vector<std::shared_ptr<void>> owners_;
};

/// Why answers of so many bytes, for a problem of these sizes, would not fit into memory. Returns nothing if they fit.
/// `among` names the outputs that take most of them.
std::optional<problem::error> beyond_memory(problem_file const& recorded,
                                            std::function<double(problem::sizes const&)> const& bytes_of,
                                            std::string_view among);

}  // namespace attest::audit::answers
