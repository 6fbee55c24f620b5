// The optional inputs that every call of a kernel must have: tensors and the softcap. Calls without them get usual
// ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

/// A set of optional inputs. Any call can get each of them; except by a softcap and a sink, its answers do not change.
class needed_inputs {
 public:
  enum class input : std::uint8_t {
    mask,         ///< [b, 1, n, m], every key visible
    bias,         ///< [1, hq, n, m], 0
    q_lengths,    ///< n for each entry
    k_lengths,    ///< m for each entry
    q_offsets,    ///< the entries of Q one behind the other
    k_offsets,    ///< the entries of K and V one behind the other
    block_table,  ///< K and V in pages
    softcap,      ///< the usual one
    sink,         ///< 0 for each query head
  };
  static constexpr std::size_t count = static_cast<std::size_t>(input::sink) + 1;

  friend bool operator==(needed_inputs const&, needed_inputs const&) = default;
  bool empty() const { return *this == needed_inputs{}; }
  bool has(input one) const { return has_[static_cast<std::size_t>(one)]; }
  needed_inputs& add(input one) { return has_[static_cast<std::size_t>(one)] = true, *this; }
  /// Adds one by a name of names(). Returns false if it is none.
  bool add_named(std::string_view name);
  /// The rows of a page.
  std::int64_t page() const { return page_; }
  needed_inputs& in_pages_of(std::int64_t rows) { return page_ = rows, *this; }

  /// Offsets and tables, which give rows of Q, K or V other places.
  bool move_rows() const { return has(input::q_offsets) || has(input::k_offsets) || has(input::block_table); }
  /// The others.
  needed_inputs in_slots() const;
  /// Has the call each of them?
  bool all_in(problem_draft const& p) const;
  /// The inputs of the set to which the call gives the value of `supply`. A softcap and a sink of this value change
  /// answers. Cost  one pass over them
  needed_inputs usual_in(problem_draft const& p, problem::sizes const& s) const;
  /// Has it all lengths, offsets and the table of the call? Lengths of keys belong to a table.
  bool has_entries_of(problem_draft const& p) const;

  /// Their names in the C interface: "mask", "k_lengths"; "block_table:32" of pages that have not 16 rows.
  std::vector<std::string> names() const;
  static std::vector<std::string_view> all_names();

 private:
  static constexpr std::int64_t usual_page = 16;
  std::array<bool, count> has_{};
  std::int64_t page_ = usual_page;
};

/// Gives the call the inputs that it lacks. A tensor that the form of the call does not admit (offsets beside a mask)
/// stays away. Where lengths come to a band at the last key, the band is aligned at the end of each entry.
/// Requires  a valid call of rank 4
void supply(problem_draft& to, needed_inputs const& needed);

}  // namespace attest::audit
