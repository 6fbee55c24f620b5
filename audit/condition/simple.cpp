#include "audit/condition/simple.hpp"

#include <algorithm>

namespace attest::audit {
namespace {

using integer = std::int64_t;

/// The member nearest to x of the sizes that the domain has for this number.
integer near_in(call_domain const& domain, form_number of, integer x) {
  switch (of) {
    case form_number::b: return domain.batch.near(x);
    case form_number::group: return domain.group.near(x);
    case form_number::kv_heads: return domain.kv_heads.near(x);
    case form_number::n: return domain.n.near(x);
    case form_number::m: return domain.m.near(x);
    case form_number::d: return domain.d.near(x);
    case form_number::dv:
      if (auto const widths = domain.widths(domain.d.near(x), 1); widths && domain.dv != call_domain::value_widths::any)
        return widths->second;
      return x;
    default: return x;
  }
}

class simplifier {
 public:
  simplifier(call_form const& failing, form_asker const& ask, call_domain const& domain)
      : base_(failing), ask_(ask), domain_(domain) {
    using enum form_number;
    tell_lengths_apart();
    tied_[index(d)] = tied_[index(dv)] = domain.dv == call_domain::value_widths::same;
  }

  simple_form run() {
    simplify();
    tell_lengths_apart();
    return {base_, tied_};
  }

 private:
  bool wrong(call_form const& form) const { return form == base_ || ask_(form) == answer::wrong; }
  bool take(std::optional<call_form> const& form) {
    if (!form || *form == base_ || !wrong(*form)) return false;
    base_ = *form;
    return true;
  }
  integer value(form_number of) const { return value_of(base_, of); }

  /// In a domain with n = m, n and m move together. One query beside the same keys, if it is wrong, tells them apart.
  void tell_lengths_apart() {
    using enum form_number;
    if (domain_.queries != call_domain::lengths::equal) return;
    if (domain_.decodes()) take(with(base_, n, 1));
    tied_[index(n)] = tied_[index(m)] = base_.size.n == base_.size.m;
  }

  void simplify() {
    bool changed = true;
    for (int pass = 0; pass < 2 && changed; ++pass) {
      changed = false;
      if (base_.values != value_form::gaussian) {
        call_form plain = base_;
        plain.values = value_form::gaussian;
        changed |= take(plain);
      }
      for (memory_trait const trait : traits_of(base_.memory)) changed |= take(without(base_, trait));
      if (base_.memory.row_gap > 1 || base_.memory.overlap > 1) {
        call_form narrow = base_;
        narrow.memory.row_gap = std::min<integer>(narrow.memory.row_gap, 1);
        narrow.memory.overlap = std::min<integer>(narrow.memory.overlap, 1);
        take(narrow);
      }
      feature_set const options = base_.options;
      options.each([&](feature option) {
        call_form without = base_;
        without.options.remove(option);
        reset(without, option);
        changed |= take(without);
      });
      if (base_.bias_over) {
        call_form usual = base_;
        usual.bias_over.reset();
        changed |= take(usual);
      }
      if (base_.length > 1) {
        call_form shortest = base_;
        shortest.length = 1;
        take(shortest);
      }
      if (base_.diagonal) {
        call_form without = base_;
        without.diagonal.reset();
        changed |= take(without);
      }
      if (base_.mask_byte != 1) changed |= take(with(base_, form_number::mask_byte, 1));
      if (base_.threads != 0) changed |= take(with(base_, form_number::threads, 0));
      if (value(form_number::group) != plain(form_number::group)) {
        call_form equal = base_;
        equal.size.hk = equal.size.hq;
        if (take(equal)) changed = true;
        else changed |= take(with(base_, form_number::group, plain(form_number::group)));
      }
      for (form_number const of : {form_number::b, form_number::heads}) {
        integer const least = of == form_number::heads ? value(form_number::group) : plain(of);
        if (value(of) != least) changed |= take(with(base_, of, least)) || take(with(base_, of, 2 * least));
      }
      changed |= simplify_pair(form_number::n, form_number::m, {8, 64});
      changed |= simplify_pair(form_number::d, form_number::dv, {8, 64, 128});
      changed |= shorten();
    }
  }

  /// Sets both to what is plain, or one of them.
  bool simplify_pair(form_number first, form_number second, std::initializer_list<integer> wishes) {
    if (value(first) == plain_in(domain_, first) && value(second) == plain_in(domain_, second)) return false;
    for (integer const wished : wishes) {
      integer const x = near_in(domain_, first, wished);
      auto const both = with(*with(base_, first, x), second, x);
      if (take(both)) return true;
      answer const one = ask_one(first, x), other = ask_one(second, x);
      if (one == answer::wrong || other == answer::wrong) return true;
      bool const alone = one == answer::refused && other == answer::refused;
      if (both && ask_(*both) == answer::right) {
        if (alone && value(first) == value(second)) tied_[index(first)] = tied_[index(second)] = true;
        return false;
      }
    }
    return false;
  }

  /// Long rows cost much: whatever can be shorter is.
  bool shorten() {
    bool changed = false;
    for (form_number const of : {form_number::m, form_number::n})
      for (integer const wished : {256, 1100})
        if (integer const x = near_in(domain_, of, wished);
            value(of) > 2 * x &&
            (take(with(*with(base_, form_number::n, x), form_number::m, x)) || take(with(base_, of, x)))) {
          changed = true;
          break;
        }
    return changed;
  }

  answer ask_one(form_number of, integer x) {
    if (value(of) == x) return answer::right;
    auto const form = with(base_, of, x);
    if (take(form)) return answer::wrong;
    return form ? ask_(*form) : answer::refused;
  }

  static std::size_t index(form_number of) { return static_cast<std::size_t>(of); }
  integer plain(form_number of) const { return plain_in(domain_, of); }

  call_form base_;
  form_asker const& ask_;
  call_domain const& domain_;
  std::array<bool, number_count> tied_{};
};

}  // namespace

integer plain_in(call_domain const& domain, form_number of) { return near_in(domain, of, row_of(of).plain); }

simple_form simplified(call_form const& failing, form_asker const& ask, call_domain const& domain) {
  return simplifier(failing, ask, domain).run();
}

}  // namespace attest::audit
