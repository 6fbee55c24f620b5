// The search for a domain under way: a call that is taken, and the domain so far. Its steps are in find_base.cpp (the
// first call that is taken), lengths.cpp, find_domain.cpp (heads, scales), widths.cpp and bands.cpp.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "audit/asking/domain/domain_questions.hpp"
#include "audit/asking/domain/sizes_around.hpp"
#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

/// Query heads beside a head of K in a call that has several, if the kernel takes them.
inline std::int64_t several_heads(size_set const& group) {
  return group.listed.empty() ? group.near(2) : group.listed.back();
}

/// Optional inputs that a kernel may need in every call.
std::vector<needed_inputs> likely_needs();

class domain_search {
 public:
  domain_search(domain_questions& ask, std::function<bool()> const& gives_up) : ask_(ask), gives_up_(gives_up) {}
  call_domain run();

 private:
  using width = std::pair<std::int64_t, std::int64_t>;  ///< d, dv

  bool takes_everything();
  bool find_base();
  void drop_needless_inputs();
  void prefer_mask_to_band();
  void add_queries_to_base();
  void make_base_smaller();
  /// Begins with the base alone.
  void start();
  void find_lengths();
  void find_outputs(domain_call const& taken);
  void find_heads();
  void find_scales();

  // widths.cpp
  void find_widths();
  void add_pairs(std::vector<std::int64_t> const& same);
  /// The widths of the domain, or its least and its largest if it lists none.
  std::vector<width> widths() const;
  void find_lengths_of_widths();
  bool share_lengths(domain_call like);

  // bands.cpp
  void find_bands();
  void check_corners();
  /// Calls with n < m, with n > m and with n = m in the domain, as far as it has such lengths.
  struct shapes {
    std::optional<domain_call> wide, tall, square;
  };
  shapes shapes_of(domain_call const& like) const;
  void take_band(band_form form, bool is_taken) { domain_.bands[static_cast<std::size_t>(form)] = is_taken; }
  /// Are all of these calls taken, with this band? Not where there is none.
  bool takes_band(std::initializer_list<std::optional<domain_call>> calls, band_form form);
  /// The call with a band of the domain, in a shape that has it.
  domain_call banded(domain_call const& like, band_form form) const;

  // lengths.cpp
  struct length_sets {
    size_set n{}, m{};
    call_domain::lengths rule = call_domain::lengths::any;
    std::int64_t times = 1;
  };
  /// The lengths that are taken by the base with these widths.
  length_sets lengths_around(domain_call const& from);
  length_sets lengths_of_several(domain_call const& from);
  bool takes_lengths(domain_call call, std::int64_t n, std::int64_t m) {
    call.size.n = n, call.size.m = m;
    return ask_.takes(call);
  }
  bool takes_heads(domain_call call, std::int64_t group, std::int64_t kv_heads) {
    call.size.hq = group * kv_heads, call.size.hk = kv_heads;
    return ask_.takes(call);
  }
  bool takes_width(domain_call call, width const& of) {
    call.size.d = of.first, call.size.dv = of.second;
    return ask_.takes(call);
  }

  domain_questions& ask_;
  std::function<bool()> const& gives_up_;
  domain_call base_{};   ///< is taken
  domain_call small_{};  ///< is taken, too: the base in few queries and keys
  call_domain domain_{};
};

}  // namespace attest::audit
