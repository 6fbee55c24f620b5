// A call with other descriptors: parts of tensors, other strides, other memory. The caller's descriptors stay as they
// are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <attest/kernel.h>

#include "audit/zoo/memory.hpp"
#include "problem/dlpack.hpp"

namespace attest::zoo {

/// A descriptor with its own shape and strides and, on request, its own memory.
class changed_tensor {
 public:
  changed_tensor() = default;
  explicit changed_tensor(DLTensor const& of);
  changed_tensor(changed_tensor const&) = delete;
  changed_tensor& operator=(changed_tensor const&) = delete;

  /// Keeps `count` of the indices of an axis, from `first` on in steps of `step`. An axis of size 1 stays (it
  /// broadcasts).
  void keep(int axis, std::int64_t first, std::int64_t count, std::int64_t step = 1);
  /// Moves the elements into memory of its own, without gaps, and axes of size 1 or stride 0 in full.
  void own_copy();
  /// Memory of its own of this shape, filled with zeros.
  void own_zeros();
  void describe_as_compact();

  DLTensor t{};
  std::array<std::int64_t, 4> shape{}, strides{};

 private:
  std::vector<std::byte> memory_;
};

class changed_call {
 public:
  explicit changed_call(attest_call const& of);

  /// Only this batch entry, query head and range of queries; K and V of their head.
  void keep_rows(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count);
  attest_status answer() const { return attest_attention(&call); }

  attest_call call;
  changed_tensor q, k, v, mask, bias, out, lse, weights;  ///< empty if the call has no such tensor

  changed_tensor& own_lse();      ///< makes the call ask for LSE
  changed_tensor& own_weights();  ///< and for weights
};

/// f(F) with the element type F of a tensor of floating type. Requires such a type.
template <class Function>
void with_element_type(DLTensor const& t, Function&& f) {
  problem::with_type(*problem::element_type_of(t.dtype), problem::floating_elements{}, f);
}

/// Element [b, h, i, j] of a floating tensor of any type; axes of size 1 broadcast.
double number_at(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j = 0);

/// t[b, h, i, j] ← f(t[b, h, i, j]) for all elements of a floating tensor. f(x, b, h, i, j), in double.
template <class Function>
void for_each_element(DLTensor const& t, Function&& f) {
  std::int64_t const columns = t.ndim > 3 ? t.shape[3] : 1;
  with_element_type(t, [&]<class F>(std::type_identity<F>) {
    for (std::int64_t b = 0; b < t.shape[0]; ++b)
      for (std::int64_t h = 0; h < t.shape[1]; ++h)
        for (std::int64_t i = 0; i < t.shape[2]; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            store(t, b, h, i, j, stored_as<F>(static_cast<double>(f(read<F, double>(t, b, h, i, j), b, h, i, j))));
  });
}

}  // namespace attest::zoo
