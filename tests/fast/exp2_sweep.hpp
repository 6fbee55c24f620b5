// Many arguments through the kernel's 2^x, on all instruction sets at once, against fixed_exp2.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "fast/algorithm/exp2.hpp"
#include "fast/float_environment.hpp"
#include "fast/simd/operations.hpp"
#include "tests/fast/exp2_fixed.hpp"

namespace attest::tests {

/// The last argument whose weight is not 0.
template <class T>
inline constexpr T lowest_exp2_argument = fast::lowest_exponent<T> + T(0.5);

/// The largest error of one instruction set: |weight/2^x − 1| in u, and in places of the result.
template <class T>
struct exp2_errors {
  std::string name;
  fast::operations<T> const* ops = nullptr;
  double in_u = 0, in_ulps = 0;
  T worst = 0;              ///< the argument that in_u belongs to
  std::uint64_t wrong = 0;  ///< weights that are not even within a factor 2, or not 0 where they must be

  void merge(exp2_errors const& other) {
    if (other.in_u > in_u) in_u = other.in_u, worst = other.worst;
    in_ulps = std::max(in_ulps, other.in_ulps), wrong += other.wrong;
  }
};

/// One for each instruction set.
template <class T>
std::vector<exp2_errors<T>> no_exp2_errors() {
  std::vector<exp2_errors<T>> errors;
  for (auto const name : fast::simd_targets()) {
    fast::use_simd_target(name);
    exp2_errors<T> of_target;
    of_target.name = name, of_target.ops = &fast::best_operations<T>();
    errors.push_back(of_target);
  }
  fast::use_simd_target("");
  return errors;
}

/// The right weight, and the distance from it.
template <class T>
class exp2_judge {
 public:
  /// x ≤ 0
  void look(T x, T got, std::int64_t n, std::int64_t truth, exp2_errors<T>& found) const noexcept {
    auto const bits = std::bit_cast<std::uint64_t>(static_cast<double>(got));
    // got = significand·2^(exponent − 1075); in units of 2^(n − 62) that is a shift by 9 or 10, where it is right.
    auto const shift = static_cast<std::int64_t>(bits >> 52) - 1013 - n;
    if (shift < 8 || shift > 10) {
      ++found.wrong;
      return;
    }
    auto const significand = static_cast<std::int64_t>((bits & 0xfffffffffffffu) | 0x10000000000000u);
    auto const off = static_cast<double>(std::abs(significand * (std::int64_t{1} << shift) - truth));
    double const in_u = off / static_cast<double>(truth) * (sizeof(T) == 4 ? 0x1p24 : 0x1p53);
    bool const above_one = truth >= std::int64_t{1} << fixed_exp2::places;
    double const in_ulps = off * (sizeof(T) == 4 ? 0x1p-38 : 0x1p-9) * (above_one ? 0.5 : 1);
    if (in_u > found.in_u) found.in_u = in_u, found.worst = x;
    found.in_ulps = std::max(found.in_ulps, in_ulps);
  }

  /// All x of one block, on all instruction sets.
  void look(std::vector<T> const& x, std::vector<exp2_errors<T>>& found) {
    std::size_t const count = x.size();
    for (std::size_t j = 0; j < count; ++j) {
      auto const exact = static_cast<double>(x[j]);
      n_[j] = exact > static_cast<double>(lowest_exp2_argument<T>) ? static_cast<std::int64_t>(exact - 0.5) : 1;
      if (n_[j] <= 0) truth_[j] = power_(static_cast<std::int64_t>((exact - static_cast<double>(n_[j])) * 0x1p62));
    }
    for (auto& set : found) {
      std::copy(x.begin(), x.end(), S_.begin());
      std::fill(S_.begin() + static_cast<std::ptrdiff_t>(count), S_.end(), -std::numeric_limits<T>::infinity());
      T m = 0, factor = 1;
      set.ops->exponentiate(S_.data(), 1, {0, fast::rounded_up(static_cast<std::int64_t>(count), fast::sum_lanes)},
                            {&m, l_.data(), &factor});
      for (std::size_t j = 0; j < count; ++j)
        if (n_[j] <= 0) look(x[j], S_[j], n_[j], truth_[j], set);
        else set.wrong += S_[j] != 0;
    }
  }

 private:
  fixed_exp2 power_;
  std::vector<std::int64_t> n_ = std::vector<std::int64_t>(block), truth_ = std::vector<std::int64_t>(block);
  std::vector<T> S_ = std::vector<T>(static_cast<std::size_t>(fast::score_stride<T>));
  std::vector<T> l_ = std::vector<T>(static_cast<std::size_t>(fast::sum_lanes));

 public:
  static constexpr auto block = static_cast<std::size_t>(fast::blocking_of<T>.keys);
};

/// argument(index) for index = 0 … count − 1, on every core, in the floating-point environment of the kernel.
/// Requires  argument(index) ≤ 0
template <class T, class Argument>
std::vector<exp2_errors<T>> sweep_exp2(std::uint64_t count, Argument const& argument) {
  auto all = no_exp2_errors<T>();
  auto const threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::vector<exp2_errors<T>>> found(threads, all);
  std::vector<std::thread> running;
  for (unsigned mine = 0; mine < threads; ++mine)
    running.emplace_back([&, mine] {
      fast::float_environment const environment;
      exp2_judge<T> judge;
      std::vector<T> x;
      for (std::uint64_t first = mine * judge.block; first < count; first += threads * judge.block) {
        x.clear();
        for (std::uint64_t at = first; at < std::min<std::uint64_t>(first + judge.block, count); ++at)
          x.push_back(argument(at));
        judge.look(x, found[mine]);
      }
    });
  for (auto& thread : running) thread.join();
  for (auto const& part : found)
    for (std::size_t set = 0; set < all.size(); ++set) all[set].merge(part[set]);
  return all;
}

}  // namespace attest::tests
