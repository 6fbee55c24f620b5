// Which features a kernel answers, alone and in pairs, as a few questions showed.
#pragma once

#include <array>
#include <set>
#include <utility>

#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

class support {
 public:
  /// The kernel refused a call with these features, one or two.
  void refuse(feature one) { refused_[static_cast<std::size_t>(one)].add(one); }
  void refuse(feature one, feature other) {
    refused_[static_cast<std::size_t>(one)].add(other);
    refused_[static_cast<std::size_t>(other)].add(one);
  }
  /// It refused a mask or a bias with these axes, and nothing else beside it.
  void refuse(feature_group group, broadcast_axes const& axes) { refused_axes_.emplace(group, axes); }
  bool answers(feature_group group, broadcast_axes const& axes) const { return !refused_axes_.contains({group, axes}); }
  bool answers(feature one) const { return !refuses(one, one); }
  bool answers(feature one, feature other) const { return answers(one) && answers(other) && !refuses(one, other); }
  /// Does it answer each of them, and each two of them?
  bool answers(feature_set const& all) const {
    bool answered = true;
    all.each([&](feature one) {
      all.each([&](feature other) { answered = answered && (one == other ? answers(one) : answers(one, other)); });
    });
    return answered;
  }

 private:
  bool refuses(feature one, feature other) const { return refused_[static_cast<std::size_t>(one)].has(other); }

  std::array<feature_set, feature_count> refused_{};
  std::set<std::pair<feature_group, broadcast_axes>> refused_axes_{};
};

}  // namespace attest::audit
