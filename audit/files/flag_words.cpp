#include "audit/files/flag_words.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "audit/tensors/elements.hpp"
#include "problem/checks.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t most_listed = 1024;

/// The words use m − n of the whole call; entries have their own. A band of entries has a word only if it depends on
/// neither.
std::optional<std::string> band_words(problem_draft const& draft, problem::sizes const& s) {
  problem::band const& band = draft.band;
  bool const at_end = draft.align != 0, dense = draft.is_dense();
  if (at_end && !dense) return std::nullopt;
  bool const top_left = band.diagonal == (at_end ? s.n - s.m : 0),
             bottom_right = dense && band.diagonal == (at_end ? 0 : s.m - s.n);
  if (band.left == -1 && band.right == 0 && top_left) return "causal-top-left";
  if (band.left == -1 && band.right == 0 && bottom_right) return "causal-bottom-right";
  if (bottom_right) return fmt::format("window {} {}", band.left, band.right);
  return std::nullopt;
}

/// Element (b, h, i, j) of a mask or bias of rank 4, whose axes of size 1 broadcast.
double at(owned_tensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  auto const& size = t.layout.shape;
  return load(t, offset_of(t, size[0] == 1 ? 0 : b, size[1] == 1 ? 0 : h, size[2] == 1 ? 0 : i, j));
}

std::optional<std::string> length_words(owned_tensor const& mask, problem::sizes const& s) {
  if (s.b > most_listed) return std::nullopt;
  auto const& size = mask.layout.shape;
  std::string words = "lengths";
  for (std::int64_t b = 0; b < s.b; ++b) {
    std::int64_t length = 0;
    while (length < s.m && size[1] * size[2] > 0 && at(mask, b, 0, 0, length) != 0) ++length;
    for (std::int64_t h = 0; h < size[1]; ++h)
      for (std::int64_t i = 0; i < size[2]; ++i)
        for (std::int64_t j = 0; j < s.m; ++j)
          if ((at(mask, b, h, i, j) != 0) != (j < length)) return std::nullopt;
    words += fmt::format(" {}", length);
  }
  return words;
}

/// Is every element of the bias the bias of ALiBi with these slopes, rounded to its type?
bool is_alibi(owned_tensor const& bias, problem::sizes const& s, std::vector<double> const& slopes, bool by_key) {
  problem::binary_format const format = problem::row_of(bias.type).format;
  auto const& size = bias.layout.shape;
  for (std::int64_t b = 0; b < size[0]; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < (by_key ? size[2] : s.n); ++i)
        for (std::int64_t j = 0; j < s.m; ++j) {
          double const steps = static_cast<double>(by_key ? j : -std::abs(i + s.m - s.n - j));
          if (at(bias, b, h, i, j) != rounded_to(slopes[static_cast<std::size_t>(h)] * steps, format)) return false;
        }
  return true;
}

std::optional<std::string> bias_words(owned_tensor const& bias, problem::sizes const& s, bool dense) {
  if (s.m < 2 || s.n < 1 || s.b < 1 || s.hq > most_listed) return std::nullopt;
  auto const& size = bias.layout.shape;
  for (bool const by_key : {true, false}) {
    if (!by_key && (size[2] != s.n || !dense)) continue;
    std::vector<double> slopes;
    // Key 1 is one step from key 0. Key m − 1 is 0 steps from the last query, key m − 2 one step.
    for (std::int64_t h = 0; h < s.hq; ++h)
      slopes.push_back(by_key ? at(bias, 0, h, 0, 1) : -at(bias, 0, h, s.n - 1, s.m - 2));
    bool const positive = std::ranges::all_of(slopes, [](double slope) { return slope > 0 && std::isfinite(slope); });
    if (positive && is_alibi(bias, s, slopes, by_key))
      return fmt::format("{} {}", by_key ? "alibi-by-key" : "alibi", fmt::join(slopes, " "));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> flag_words(owned_problem const& problem) {
  problem_draft const& draft = problem.draft();
  problem::sizes const& s = problem.size();
  std::vector<std::string> words;
  auto const add = [&](std::optional<std::string> const& found) {
    if (found) words.push_back(*found);
    return found.has_value();
  };
  if (problem.rank() != 4) return std::nullopt;
  if (draft.band.left != -1 || draft.band.right != -1)
    if (!add(band_words(draft, s))) return std::nullopt;
  if (draft.mask)
    if (draft.mask->layout.rank != 4 || !add(length_words(*draft.mask, s))) return std::nullopt;
  if (draft.bias)
    if (draft.bias->layout.rank != 4 || !add(bias_words(*draft.bias, s, draft.is_dense()))) return std::nullopt;
  return words.empty() ? "plain" : fmt::format("{}", fmt::join(words, " + "));
}

}  // namespace attest::audit
