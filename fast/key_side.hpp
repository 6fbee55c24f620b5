// The key block of a backward tile: its packed K and V, and the sums dK and dV.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fast/backward_context.hpp"
#include "fast/backward_workspace.hpp"
#include "fast/key_panels.hpp"

namespace attest::fast {

/// At most one key block of one kv head. K and V are packed when the first query block sees some of their keys.
template <class E>
class key_side {
 public:
  using T = working<E>;

  key_side(backward_context<E> const& call, gradient_workspace<T> const& space) noexcept
      : call_(call),
        space_(space),
        size_(call.instance.size()),
        turned_size_(turned(size_)),
        panels_(call.ops, space.keys, size_),
        turned_(call.ops, space.keys, turned_size_) {}

  /// Turns to a kv head that has keys.
  void enter(head_place const& at) noexcept {
    at_ = at;
    if (size_.d > 0) {
      panels_.K.describe(call_.instance.k(), at.b, at.kv_head);
      turned_.V.describe(call_.instance.k(), at.b, at.kv_head);
    }
    if (size_.dv > 0) turned_.K.describe(call_.instance.v(), at.b, at.kv_head);
  }

  /// Turns to a key block, whose sums are 0.
  void enter(interval const& keys, bool sums) noexcept {
    keys_ = keys, packed_ = false;
    if (!sums) return;
    std::fill_n(space_.dK.data, keys.size() * space_.dK.stride, T(0));
    std::fill_n(space_.dV.data, keys.size() * space_.dV.stride, T(0));
  }

  void pack() noexcept {
    if (packed_) return;
    packed_ = true, finite_ = true;
    interval const all = panels_.whole_panels({0, keys_.size()});
    if (size_.d > 0) {
      panels_.K.enter(keys_), turned_.V.enter(keys_);
      panels_.pack_keys(keys_, all, space_.K);
      finite_ = turned_.pack_values(keys_, keys_);
    }
    if (size_.dv > 0) turned_.K.enter(keys_), turned_.pack_keys(keys_, all, space_.V);
  }

  interval const& keys() const noexcept { return keys_; }
  bool has_finite_keys() const noexcept { return finite_; }
  interval whole_panels(interval const& visible) const noexcept { return panels_.whole_panels(visible); }

  /// Writes dK and dV of the key block.
  void write() const noexcept {
    auto const& wanted = call_.wanted;
    for (std::int64_t j = 0; j < keys_.size(); ++j) {
      if (wanted.dk && size_.d > 0)
        write_row(call_, space_.dK.row(j), call_.sigma, size_.d, wanted.dk.row(at_.b, at_.kv_head, keys_.first + j),
                  space_.row);
      if (wanted.dv && size_.dv > 0)
        write_row(call_, space_.dV.row(j), T(1), size_.dv, wanted.dv.row(at_.b, at_.kv_head, keys_.first + j),
                  space_.row);
    }
  }

 private:
  /// The sizes of the problem with K and V exchanged.
  static problem::sizes turned(problem::sizes size) noexcept {
    std::swap(size.d, size.dv);
    return size;
  }

  backward_context<E> const& call_;
  gradient_workspace<T> const& space_;
  problem::sizes const& size_;
  problem::sizes turned_size_;
  key_panels<E> panels_;  ///< K, for scores
  key_panels<E> turned_;  ///< its K is V, for dP; its V is K, for dQ
  head_place at_{};
  interval keys_{};
  bool packed_ = false, finite_ = false;
};

}  // namespace attest::fast
