// Calls of attest/kernel.h with layouts that a problem draft cannot have: gaps, offsets, shared and far memory.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <attest/kernel.h>
#include <sys/mman.h>

#include "audit/tensors/elements.hpp"
#include "problem/dlpack.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

enum class memory_form : std::uint8_t {
  compact,
  gaps_in_out,
  gaps_in_lse,
  offset_keys,
  offset_mask,
  keys_of_stride_0,
  values_in_keys,
  overlapping_keys,
  keys_before_heads,
  values_between_keys  ///< K and V row by row in one memory
};

/// A call in words. `mask` and `bias` are empty, or name the axes on which they do not broadcast: "b11", "1hn".
struct small_call {
  std::int64_t b = 1, hq = 1, hk = 0, n = 4, m = 8, d = 4, dv = 4;  ///< hk = 0: hq
  problem::element_type type = problem::element_type::f32;
  std::int32_t threads = 0;
  std::string_view mask{}, bias{};
  std::uint8_t mask_byte = 1;  ///< of the keys that a mask shows
  std::int64_t special_keys = 0;
  double special_bias = 0, special_value = 0;  ///< of the first special_keys keys
  std::int64_t nan_query = -1;                 ///< all of this query is NaN
  double scale = std::numeric_limits<double>::quiet_NaN(), softcap = 0;
  std::int64_t diagonal = 0, left = -1, right = -1;
  memory_form memory = memory_form::compact;
  /// The tensors with elements between their rows, with elements between their heads, and in the order [b, n, h, d]: of
  /// q, k, v, o(ut), m(ask), b(ias).
  std::string_view row_gaps{}, head_gaps{}, heads_inside{};
  std::optional<problem::element_type> bias_type{};
  std::int64_t hidden_first = 0, hidden_last = 0;  ///< keys that the mask hides, or −∞ in the bias if there is no mask
  double level = 0;  ///< of the scores of the keys from level_from on, with scale 1; 0: none
  std::int64_t level_from = 0;
  std::int64_t stride_of_entries = 0;       ///< of K, in elements, where it is not 0
  std::int64_t calls_before = 0;            ///< the same call so often before
  std::int64_t n_before = 0, m_before = 0;  ///< of one call before, where they are not 0
};

/// Zeros that take memory only where they are touched.
class sparse_memory {
 public:
  explicit sparse_memory(std::size_t bytes) : bytes_(bytes + 1) {
    start_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(start_ != MAP_FAILED);
  }
  ~sparse_memory() { munmap(start_, bytes_); }
  sparse_memory(sparse_memory const&) = delete;
  sparse_memory& operator=(sparse_memory const&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(start_); }
  std::size_t size() const { return bytes_ - 1; }

 private:
  std::size_t bytes_;
  void* start_ = nullptr;
};

/// One tensor of a small_call.
struct small_tensor {
  std::array<std::int64_t, 4> shape{}, strides{};
  std::size_t element_bytes = 4;
  std::shared_ptr<sparse_memory> memory;
  DLTensor t{};

  small_tensor() = default;
  small_tensor(small_tensor const&) = delete;
  small_tensor& operator=(small_tensor const&) = delete;

  void shape_as(problem::element_type type, std::array<std::int64_t, 4> sizes, int rank = 4, std::int64_t gap = 0) {
    shape = sizes, element_bytes = problem::size_of(type);
    t.ndim = rank, t.dtype = problem::dlpack_type_of(type), t.device = {kDLCPU, 0};
    std::int64_t stride = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      strides[static_cast<std::size_t>(axis)] = stride;
      stride = stride * sizes[static_cast<std::size_t>(axis)] + (axis == rank - 1 ? gap : 0);
    }
    t.shape = shape.data(), t.strides = strides.data();
  }
  /// Memory for every element that the strides reach, `offset` bytes before them and `behind` elements behind them.
  void allocate(std::size_t offset = 0, std::int64_t behind = 0) {
    std::int64_t elements = 1;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(t.ndim); ++axis)
      elements = shape[axis] == 0 ? 0 : elements > 0 ? elements + (shape[axis] - 1) * strides[axis] : 0;
    memory = std::make_shared<sparse_memory>(offset + static_cast<std::size_t>(elements + behind) * element_bytes);
    t.data = memory->data(), t.byte_offset = offset;
  }
  /// Element [b, h, i, j] ← f(b, h, i, j).
  template <class F>
  void fill(F&& f) {
    problem::with_type(*problem::element_type_of(t.dtype), [&]<class E>(std::type_identity<E>) {
      for (std::int64_t b = 0; b < shape[0]; ++b)
        for (std::int64_t h = 0; h < shape[1]; ++h)
          for (std::int64_t i = 0; i < shape[2]; ++i)
            for (std::int64_t j = 0; j < shape[3]; ++j) {
              E value{};
              if constexpr (problem::floating_element<E>) value = audit::nearest_element<E>(f(b, h, i, j));
              else value = static_cast<E>(f(b, h, i, j));
              std::int64_t const at = b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3];
              std::memcpy(memory->data() + t.byte_offset + static_cast<std::size_t>(at) * sizeof(E), &value, sizeof(E));
            }
    });
  }
  std::vector<std::byte> bytes() const { return {memory->data(), memory->data() + memory->size()}; }
};

/// The memory that a kernel wrote: the bytes of O, LSE and weights, with their gaps.
struct small_answer {
  std::vector<std::byte> o, lse, weights;
  friend bool operator==(small_answer const&, small_answer const&) = default;
};

/// A call with its tensors; the same values every time.
class small_call_memory {
 public:
  explicit small_call_memory(small_call const& asked) : asked_(asked) {
    std::int64_t const b = asked.b, hq = asked.hq, n = asked.n, m = asked.m, d = asked.d, dv = asked.dv;
    std::int64_t const hk = asked.hk ? asked.hk : hq;
    auto const lse_type = asked.type == problem::element_type::f64 ? asked.type : problem::element_type::f32;
    auto const form = asked.memory;
    q_.shape_as(asked.type, {b, hq, n, d}), lay('q', q_), q_.allocate();
    k_.shape_as(asked.type, {b, hk, m, d}), lay('k', k_);
    if (form == memory_form::keys_of_stride_0) k_.strides[0] = 0;
    if (form == memory_form::overlapping_keys) k_.strides[2] = d - 1;
    if (form == memory_form::keys_before_heads) k_.strides[1] = d, k_.strides[2] = hk * d;
    if (asked.stride_of_entries) k_.strides[0] = asked.stride_of_entries;
    v_.shape_as(asked.type, {b, hk, m, dv}), lay('v', v_);
    if (form == memory_form::values_between_keys)
      for (small_tensor* t : {&k_, &v_})
        t->strides[2] = d + dv, t->strides[1] = t->strides[2] * m, t->strides[0] = t->strides[1] * hk;
    k_.allocate(form == memory_form::offset_keys ? 4 * k_.element_bytes : 0,
                form == memory_form::values_between_keys ? dv : 0);
    if (form == memory_form::values_in_keys || form == memory_form::values_between_keys)
      v_.memory = k_.memory, v_.t.data = k_.t.data;
    else v_.allocate();
    if (form == memory_form::values_between_keys) v_.t.byte_offset = static_cast<std::uint64_t>(d) * k_.element_bytes;
    out_.shape_as(asked.type, {b, hq, n, dv}, 4, form == memory_form::gaps_in_out ? 3 : 0), lay('o', out_);
    out_.allocate();
    lse_.shape_as(lse_type, {b, hq, n, 1}, 3, form == memory_form::gaps_in_lse ? 2 : 0), lse_.allocate();
    fill();
    call.abi_version = ATTEST_KERNEL_ABI, call.threads = asked.threads;
    call.q = &q_.t, call.k = &k_.t, call.v = &v_.t, call.out = &out_.t, call.lse = &lse_.t;
    call.scale = asked.level != 0 ? 1 : asked.scale, call.softcap = asked.softcap;
    call.diagonal = asked.diagonal, call.left = asked.left, call.right = asked.right;
    if (static_cast<double>(n) * static_cast<double>(m) < 1e7) {
      weights_.shape_as(asked.type, {b, hq, n, m}), weights_.allocate();
      call.weights = &weights_.t;
    }
  }

  attest_call call{};

  /// The answer of `kernel`, or an empty one where it refuses the call.
  small_answer answer_of(attest_status (*kernel)(attest_call const*)) {
    attest_status const status = kernel(&call);
    REQUIRE((status == ATTEST_OK || status == ATTEST_UNSUPPORTED));
    if (status == ATTEST_UNSUPPORTED) return {};
    return {out_.bytes(), lse_.bytes(), call.weights ? weights_.bytes() : std::vector<std::byte>{}};
  }
  small_tensor& q() { return q_; }
  small_tensor& out() { return out_; }

 private:
  void lay(char name, small_tensor& t) const {
    auto const has = [&](std::string_view names) { return names.find(name) != names.npos; };
    auto const& s = t.shape;
    if (has(asked_.row_gaps)) t.strides[2] = s[3] + 3, t.strides[1] = t.strides[2] * s[2];
    if (has(asked_.head_gaps)) t.strides[1] = t.strides[2] * s[2] + 5;
    if (has(asked_.heads_inside)) t.strides[1] = s[3], t.strides[2] = s[1] * s[3];
    if (!has(asked_.heads_inside)) t.strides[0] = t.strides[1] * s[1];
  }
  bool hides(std::int64_t key) const { return key < asked_.hidden_first || key >= asked_.m - asked_.hidden_last; }
  /// A number in [−1, 1] that depends on a place and on nothing else.
  static double number(std::uint64_t tensor, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    std::uint64_t x = tensor;
    for (std::int64_t const index : {b, h, i, j}) {
      x = (x ^ static_cast<std::uint64_t>(index)) * 0xbf58476d1ce4e5b9u;
      x ^= x >> 29;
    }
    return static_cast<double>(x % 2001) / 1000 - 1;
  }
  void fill() {
    auto const drawn = [](std::uint64_t tensor) {
      return [tensor](auto b, auto h, auto i, auto j) { return number(tensor, b, h, i, j); };
    };
    q_.fill(
        [&](auto b, auto h, auto i, auto j) { return i == asked_.nan_query ? std::nan("") : number(11, b, h, i, j); });
    k_.fill(drawn(12));
    if (asked_.level != 0) {
      q_.fill([&](auto b, auto h, auto i, auto j) { return j == 0 ? 1 : number(11, b, h, i, j) / 8; });
      k_.fill([&](auto b, auto h, auto i, auto j) {
        return j == 0 ? (i < asked_.level_from ? 0 : asked_.level) : number(12, b, h, i, j);
      });
    }
    if (asked_.memory != memory_form::values_in_keys)
      v_.fill([&](auto b, auto h, auto i, auto j) {
        return i < asked_.special_keys ? asked_.special_value : number(13, b, h, i, j);
      });
    auto const sizes = [&](std::string_view axes) {
      return std::array{axes[0] == 'b' ? asked_.b : 1, axes[1] == 'h' ? asked_.hq : 1, axes[2] == 'n' ? asked_.n : 1,
                        asked_.m};
    };
    if (!asked_.mask.empty()) {
      mask_.shape_as(problem::element_type::u8, sizes(asked_.mask)), lay('m', mask_);
      mask_.allocate(asked_.memory == memory_form::offset_mask ? 3 : 0);
      mask_.fill([&](auto b, auto h, auto i, auto j) {
        bool const shown =
            asked_.hidden_first + asked_.hidden_last > 0 ? !hides(j) : j == 0 || number(14, b, h, i, j) > -0.3;
        return shown ? static_cast<double>(asked_.mask_byte) : 0;
      });
      call.mask = &mask_.t;
    }
    if (!asked_.bias.empty()) {
      bias_.shape_as(asked_.bias_type.value_or(asked_.type), sizes(asked_.bias)), lay('b', bias_), bias_.allocate();
      bias_.fill([&](auto b, auto h, auto i, auto j) {
        if (asked_.mask.empty() && hides(j)) return -HUGE_VAL;
        return j < asked_.special_keys ? asked_.special_bias : number(15, b, h, i, j);
      });
      call.bias = &bias_.t;
    }
  }

  small_call asked_;
  small_tensor q_, k_, v_, mask_, bias_, out_, lse_, weights_;
};

/// What `kernel` answers after the calls that come before.
inline small_answer answer_of(attest_status (*kernel)(attest_call const*), small_call const& asked) {
  for (std::int64_t n = 0; n < asked.calls_before; ++n) small_call_memory(asked).answer_of(kernel);
  if (asked.n_before || asked.m_before) {
    small_call before = asked;
    if (asked.n_before) before.n = asked.n_before;
    if (asked.m_before) before.m = asked.m_before;
    small_call_memory(before).answer_of(kernel);
  }
  return small_call_memory(asked).answer_of(kernel);
}

}  // namespace attest::tests
