#include "audit/condition/simple.hpp"

#include <algorithm>

namespace attest::audit {
namespace {

using integer = std::int64_t;

class simplifier {
 public:
  simplifier(call_form const& failing, form_asker const& ask) : base_(failing), ask_(ask) {}

  simple_form run() {
    simplify();
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
      if (value(form_number::group) > 1) {
        call_form equal = base_;
        equal.size.hk = equal.size.hq;
        if (take(equal)) changed = true;
        else changed |= take(with(base_, form_number::group, 1));
      }
      for (form_number const of : {form_number::b, form_number::heads}) {
        integer const plain = of == form_number::heads ? value(form_number::group) : 1;
        if (value(of) != plain) changed |= take(with(base_, of, plain)) || take(with(base_, of, 2 * plain));
      }
      changed |= simplify_pair(form_number::n, form_number::m, {8, 64});
      changed |= simplify_pair(form_number::d, form_number::dv, {8, 64, 128});
      changed |= shorten();
    }
  }

  /// Sets both to what is plain, or one of them.
  bool simplify_pair(form_number first, form_number second, std::initializer_list<integer> plain) {
    if (value(first) == row_of(first).plain && value(second) == row_of(second).plain) return false;
    for (integer const x : plain) {
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
      for (integer const x : {256, 1100})
        if (value(of) > 2 * x &&
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

  call_form base_;
  form_asker const& ask_;
  std::array<bool, number_count> tied_{};
};

}  // namespace

simple_form simplified(call_form const& failing, form_asker const& ask) { return simplifier(failing, ask).run(); }

}  // namespace attest::audit
