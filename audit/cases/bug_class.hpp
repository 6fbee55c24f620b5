// The table of bug classes, to which findings belong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attest::audit {

enum class bug_class : std::uint8_t {
  accuracy,
  large_scores,
  crash,
  hang,
  empty_row,
  empty_block,
  sentinel,
  masked_read,
  nan_swallowed,
  causal_alignment,
  mask_polarity,
  head_mapping,
  window_edge,
  softcap_order,
  lse,
  low_precision,
  cheap_exp,
  nondeterminism,
  fast_math,
  memory,
  sink,
  entries,
  pages,
  dropout,
  gradient,
  ignored_field,
  weak_test,
};

struct bug_class_row {
  bug_class id;
  std::string_view token;  ///< in reports, on the command line, in file names
  std::string_view meaning;
  enum {
    audit,
    known_failures
  } whose;  ///< who defines it: the audit, or docs/known_failures.md, whose words `meaning` repeats
};

/// In the order of `attest list classes`.
inline constexpr std::array bug_class_table{
    bug_class_row{bug_class::accuracy, "accuracy", "an error beyond the bound, without a known cause",
                  bug_class_row::audit},
    bug_class_row{bug_class::large_scores, "large-scores",
                  "an error beyond the bound, or outside the range of V, at scores far from 0", bug_class_row::audit},
    bug_class_row{bug_class::crash, "crash", "the kernel ends its process", bug_class_row::audit},
    bug_class_row{bug_class::hang, "hang", "the kernel does not return", bug_class_row::audit},
    bug_class_row{bug_class::empty_row, "empty-row", "NaN or mean(V) where no key is visible",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::empty_block, "empty-block", "a fully masked block inside a live row (−inf − −inf)",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::sentinel, "sentinel",
                  "a finite stand-in for −inf (finfo.min, −1e4, −1e9) reached by real scores or overflowed",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::masked_read, "masked-read", "NaN/garbage at masked positions leaks",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::nan_swallowed, "nan-swallowed", "max/compare drops a NaN", bug_class_row::known_failures},
    bug_class_row{bug_class::causal_alignment, "causal-alignment", "top-left against bottom-right, n ≠ m",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::mask_polarity, "mask-polarity",
                  "a key is read that the mask hides, or not read that it shows", bug_class_row::known_failures},
    bug_class_row{bug_class::head_mapping, "head-mapping", "a query head reads another key-value head than its own",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::window_edge, "window-edge",
                  "the first or last key of a window is missed, or one beyond it is read",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::softcap_order, "softcap-order",
                  "softcap is left out, or applied before the scale or after the bias", bug_class_row::known_failures},
    bug_class_row{bug_class::lse, "lse", "wrong base, wrong sign, merge of partial results",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::low_precision, "low-precision", "accumulating or rounding weights too low",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::cheap_exp, "cheap-exp", "exp too coarse, or different in body and tail",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::nondeterminism, "nondeterminism", "threads, batch position, split count",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::fast_math, "fast-math",
                  "NaN/inf folded away, results that depend on FMA or on the instruction set",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::memory, "memory", "out of bounds at tails, wrong strides, int32 index overflow",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::sink, "sink", "a sink is lost, scaled, counted twice, given to another head, or overflows",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::entries, "entries",
                  "lengths or offsets of another entry, or the end of another one; neighbours are read",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::pages, "pages", "keys of another page than the table names, or beyond those it needs",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::dropout, "dropout", "the factor 1/(1 − p), what it divides, or which weights are kept",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::gradient, "gradient", "a wrong gradient behind a right forward pass",
                  bug_class_row::known_failures},
    bug_class_row{bug_class::ignored_field, "ignored-field",
                  "a call is answered with ATTEST_OK as if one of its fields were not there", bug_class_row::audit},
    bug_class_row{bug_class::weak_test, "weak-test",
                  "a kernel compared with itself, a tolerance wide enough for zeros or mean(V)",
                  bug_class_row::known_failures},
};

constexpr bug_class_row const& row_of(bug_class which) noexcept {
  return bug_class_table[static_cast<std::size_t>(which)];
}
constexpr std::string_view token_of(bug_class which) noexcept { return row_of(which).token; }

/// The class with this token. Returns nothing for any other word.
constexpr std::optional<bug_class> bug_class_named(std::string_view token) noexcept {
  for (bug_class_row const& row : bug_class_table)
    if (row.token == token) return row.id;
  return std::nullopt;
}

/// All tokens, in the table's order.
inline constexpr auto bug_class_tokens = [] {
  std::array<std::string_view, bug_class_table.size()> tokens;
  for (std::size_t at = 0; at < tokens.size(); ++at) tokens[at] = bug_class_table[at].token;
  return tokens;
}();

static_assert(
    [] {
      for (std::size_t at = 0; at < bug_class_table.size(); ++at)
        if (static_cast<std::size_t>(bug_class_table[at].id) != at) return false;
      return static_cast<std::size_t>(bug_class::weak_test) + 1 == bug_class_table.size();
    }(),
    "a row for every class, in the order of the enumerators");

}  // namespace attest::audit
