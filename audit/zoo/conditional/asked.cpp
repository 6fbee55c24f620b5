#include "audit/zoo/conditional/asked.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

namespace attest::zoo {
namespace {

bool is_empty(DLTensor const& t) {
  return std::any_of(t.shape, t.shape + t.ndim, [](std::int64_t size) { return size == 0; });
}

std::size_t bytes_of_element(DLTensor const& t) { return t.dtype.bits / 8u; }

/// The offset of the last element, in elements.
double last_element(DLTensor const& t) {
  double last = 0;
  for (int axis = 0; axis < t.ndim && !is_empty(t); ++axis)
    last += static_cast<double>(t.shape[axis] - 1) * static_cast<double>(t.strides[axis]);
  return last;
}

std::array<DLTensor const*, 3> inputs(attest_call const& call) { return {call.q, call.k, call.v}; }

std::uintptr_t start(DLTensor const& t) { return reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset; }

/// The output function of SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t asked::draw() const {
  std::uint32_t first = 0;
  if (!is_empty(*call.q))
    std::memcpy(&first, reinterpret_cast<void const*>(start(*call.q)),
                std::min(sizeof first, bytes_of_element(*call.q)));
  return mixed(mixed(static_cast<std::uint64_t>(calls)) ^ first);
}

double asked::scores() const {
  return static_cast<double>(b) * static_cast<double>(hq) * static_cast<double>(n) * static_cast<double>(m);
}

double asked::farthest_element() const {
  double farthest = last_element(*call.out);
  for (DLTensor const* t : inputs(call)) farthest = std::max(farthest, last_element(*t));
  return farthest;
}

double asked::farthest_byte() const {
  double farthest = 0;
  for (DLTensor const* t : {call.q, call.k, call.v, static_cast<DLTensor const*>(call.out)})
    farthest = std::max(farthest, last_element(*t) * static_cast<double>(bytes_of_element(*t)));
  return farthest;
}

bool asked::repeats_memory() const {
  return std::ranges::any_of(inputs(call), [](DLTensor const* t) {
    for (int axis = 0; axis + 1 < t->ndim; ++axis)
      if (t->strides[axis] == 0 && t->shape[axis] > 1) return true;
    return false;
  });
}

bool asked::has_overlapping_rows() const {
  return std::ranges::any_of(inputs(call), [](DLTensor const* t) {
    return t->shape[2] > 1 && t->strides[2] > 0 && t->strides[2] < t->shape[3];
  });
}

bool asked::shares_keys_and_values() const {
  if (is_empty(*call.k) || is_empty(*call.v)) return false;
  std::uintptr_t const k = start(*call.k), v = start(*call.v);
  return v >= k && static_cast<double>(v - k) <= last_element(*call.k) * static_cast<double>(bytes_of_element(*call.k));
}

bool asked::has_keys_before_heads() const { return hk > 1 && m > 1 && call.k->strides[2] > call.k->strides[1]; }

bool asked::has_row_gaps(DLTensor const& t) {
  return t.shape[2] > 1 && t.strides[2] > t.shape[3] && !has_heads_inside(t);
}

bool asked::has_head_gaps(DLTensor const& t) {
  return t.shape[1] > 1 && t.strides[2] == t.shape[3] && t.strides[1] > t.shape[2] * t.shape[3];
}

bool asked::has_heads_inside(DLTensor const& t) {
  return t.shape[1] > 1 && t.shape[2] > 1 && t.strides[2] > t.strides[1] && t.strides[1] > 0;
}

bool asked::has_axes(DLTensor const* t, bool over_b, bool over_h, bool over_n) {
  return t && (t->shape[0] > 1) == over_b && (t->shape[1] > 1) == over_h && (t->shape[2] > 1) == over_n;
}

asked call_history::next(attest_call const& call) {
  auto const time = mutant_clock.load()();
  std::lock_guard const held(guard_);
  asked a(call);
  if (calls_ == 0) first_ = time;
  a.calls = ++calls_;
  a.earlier_m = m_, a.earlier_n = n_;
  a.seconds = std::chrono::duration<double>(time - first_).count();
  m_ = a.m, n_ = a.n;
  return a;
}

}  // namespace attest::zoo
