// The optional tensors that every call of a kernel must have, and neutral ones for calls without them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

/// A set of optional tensors. Any call can get each of them without a change of its answers.
class needed_tensors {
 public:
  enum class tensor : std::uint8_t {
    mask,         ///< [b, 1, n, m], every key visible
    bias,         ///< [1, hq, n, m], 0
    q_lengths,    ///< n for each entry
    k_lengths,    ///< m for each entry
    q_offsets,    ///< the entries of Q one behind the other
    k_offsets,    ///< the entries of K and V one behind the other
    block_table,  ///< K and V in pages
  };
  static constexpr std::size_t count = static_cast<std::size_t>(tensor::block_table) + 1;

  friend bool operator==(needed_tensors const&, needed_tensors const&) = default;
  bool empty() const { return *this == needed_tensors{}; }
  bool has(tensor one) const { return has_[static_cast<std::size_t>(one)]; }
  needed_tensors& add(tensor one) { return has_[static_cast<std::size_t>(one)] = true, *this; }
  /// Adds a tensor by a name of names(). Returns false if it is none.
  bool add_named(std::string_view name);
  /// The rows of a page.
  std::int64_t page() const { return page_; }
  needed_tensors& in_pages_of(std::int64_t rows) { return page_ = rows, *this; }

  /// Offsets and tables, which give rows of Q, K or V other places.
  bool move_rows() const { return has(tensor::q_offsets) || has(tensor::k_offsets) || has(tensor::block_table); }
  /// The others.
  needed_tensors in_slots() const;
  /// Has the call each of them?
  bool all_in(problem_draft const& p) const;
  /// Those of them that the call has and that say nothing: its answers are the same without. Cost  one pass over them
  needed_tensors neutral_in(problem_draft const& p, problem::sizes const& s) const;

  /// Their names in the C interface: "mask", "k_lengths"; "block_table:32" of pages that have not 16 rows.
  std::vector<std::string> names() const;
  static std::vector<std::string_view> all_names();

 private:
  static constexpr std::int64_t usual_page = 16;
  std::array<bool, count> has_{};
  std::int64_t page_ = usual_page;
};

/// Gives the call the tensors that it lacks. A tensor that the form of the call does not admit (offsets beside a mask)
/// stays away. Where lengths come to a band at the last key, the band is aligned at the end of each entry.
/// Requires  a valid call of rank 4
void supply(problem_draft& to, needed_tensors const& needed);

}  // namespace attest::audit
