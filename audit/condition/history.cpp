#include "audit/condition/history.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/condition/search.hpp"

namespace attest::audit {
namespace {

using integer = std::int64_t;

std::string ordinal(integer n) {
  integer const last = n % 10;
  bool const teens = n % 100 >= 11 && n % 100 <= 13;
  return fmt::format("{}{}", n, teens ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// "…", and " where causal and m > 96" where there are clauses.
std::optional<history_condition> stated(std::string const& when, conjunction const& where) {
  std::vector<std::string> clauses = texts_of(where.clauses);
  std::string sentence = "wrong " + when;
  if (!clauses.empty()) sentence += fmt::format(" where {}", fmt::join(clauses, " and "));
  clauses.insert(clauses.begin(), when);
  return history_condition{sentence, clauses};
}

call_form const plain{{1, 1, 1, 8, 8, 8, 8}};

class historian {
 public:
  historian(call_form const& failing, std::span<call_form const> earlier, patient_asker const& ask)
      : failing_(failing), earlier_(earlier), ask_(ask) {}

  std::optional<history_condition> run() {
    for (call_form const& before : likely_spoilers())
      if (wrong({{before}, failing_}))
        if (auto found = after_one(before)) return found;
    // The last calls first, then many plain ones, which cost the least, then all.
    auto calls = smallest_suffix(64);
    if (!calls)
      if (wrong({{}, plain, 4096})) return after_many(plain, 4096);
    if (!calls) calls = smallest_suffix(std::ssize(earlier_));
    if (calls) {
      call_form const& first = earlier_[earlier_.size() - static_cast<std::size_t>(*calls)];
      if (wrong({{first}, failing_})) return after_one(first);
      if (wrong({{}, failing_, *calls + 1})) return after_many(failing_, *calls + 1);
      // By chance it would not be wrong each time.
      for (int again = 0; again < 3; ++again)
        if (!wrong_after_last(*calls)) return std::nullopt;
      return history_condition{fmt::format("wrong after the {} calls before it, right without them", *calls),
                               {fmt::format("after {} calls", *calls)}};
    }
    for (integer const repeats : {64, 512, 4096})
      if (wrong({{}, failing_, repeats})) return after_many(failing_, repeats);
    return std::nullopt;
  }

 private:
  bool wrong(question const& asked) const { return ask_(asked).is == answer::wrong; }
  bool wrong_after_last(integer calls) const {
    auto const last = earlier_.last(static_cast<std::size_t>(calls));
    return wrong({{last.begin(), last.end()}, failing_});
  }

  /// Calls that leave something behind in a kernel that keeps state: short, long and with other numbers of keys.
  std::vector<call_form> likely_spoilers() const {
    integer const m = failing_.size.m;
    std::vector<call_form> forms;
    auto const add = [&](form_number of, integer x) {
      if (auto const form = with(failing_, of, x); form && x != value_of(failing_, of)) forms.push_back(*form);
    };
    add(form_number::m, 1), add(form_number::m, m - 1), add(form_number::n, 64);
    add(form_number::m, std::min<integer>(8 * m + 1, 4096)), add(form_number::m, m + 1), add(form_number::n, 1);
    return forms;
  }

  /// How many of the calls before are needed.
  std::optional<integer> smallest_suffix(integer most) const {
    integer const all = std::min<integer>(std::ssize(earlier_), most);
    integer right = 0;
    for (integer calls = 1; right < all; calls *= 4) {
      calls = std::min(calls, all);
      if (wrong_after_last(calls)) {
        while (calls - right > 1) {
          integer const middle = right + (calls - right) / 2;
          (wrong_after_last(middle) ? calls : right) = middle;
        }
        return calls;
      }
      right = calls;
    }
    return std::nullopt;
  }

  std::optional<history_condition> after_one(call_form const& before) const {
    auto const judged =
        find_conjunction(failing_, {}, [&](call_form const& form) { return ask_({{before}, form}).is; });
    auto const spoiling =
        find_conjunction(before, {}, [&](call_form const& form) { return ask_({{form}, judged.base}).is; });
    if (!judged.settled || !spoiling.settled || !wrong({{before}, failing_})) return std::nullopt;
    if (spoiling.clauses.empty()) return stated("from the 2nd call on", judged);
    if (auto const related = compared(judged, spoiling)) return related;
    bool const later = wrong({{spoiling.base, call_form{{1, 1, 1, 8, 8, 8, 8}}}, judged.base});
    return stated(
        fmt::format("{}after a call with {}", later ? "" : "directly ", fmt::join(texts_of(spoiling.clauses), " and ")),
        judged);
  }

  /// Two calls, compared by m or by n: the numbers differ by a constant, or one is more than c times the other.
  std::optional<history_condition> compared(conjunction const& judged, conjunction const& spoiling) const {
    for (form_number const of : {form_number::m, form_number::n}) {
      number_set const *const before = set_of(spoiling, of), *const now = set_of(judged, of);
      if (!before || !now || !before->low) continue;
      integer const x = value_of(judged.base, of), edge = *before->low;
      auto const pair_wrong = [&](integer earlier, integer later) {
        auto const first = with(spoiling.base, of, earlier), second = with(judged.base, of, later);
        return first && second && wrong({{*first}, *second});
      };
      char const* const name = row_of(of).name;
      if (before->low == before->high && now->low == now->high) {
        integer const apart = x - edge;
        if (apart == 0 || !pair_wrong(edge + 7, x + 7) || !pair_wrong(edge + 30, x + 30) || pair_wrong(edge + 7, x))
          continue;
        return compared_as(fmt::format("directly after a call with {} {} less", name, apart), judged, spoiling, of,
                           apart > 0);
      }
      if (before->high || x < 1 || (edge - 1) % x != 0) continue;
      integer const times = (edge - 1) / x, larger = 3 * x;
      if (!pair_wrong(times * larger + 1, larger) || pair_wrong(times * larger, larger)) continue;
      return compared_as(times == 1 ? fmt::format("directly after a call with a larger {}", name)
                                    : fmt::format("directly after a call with more than {} times the {}", times, name),
                         judged, spoiling, of, true);
    }
    return std::nullopt;
  }
  static number_set const* set_of(conjunction const& of, form_number what) {
    for (condition_clause const& one : of.clauses)
      if (one.is == condition_clause::kind::number && one.of == what) return &one.set;
    return nullptr;
  }
  static std::optional<history_condition> compared_as(std::string when, conjunction judged, conjunction const& spoiling,
                                                      form_number of, bool sayable) {
    if (!sayable) return std::nullopt;
    auto const is_it = [&](condition_clause const& one) {
      return one.is == condition_clause::kind::number && one.of == of;
    };
    std::vector<condition_clause> rest = spoiling.clauses;
    std::erase_if(rest, is_it), std::erase_if(judged.clauses, is_it);
    if (!rest.empty()) when += fmt::format(" and {}", fmt::join(texts_of(rest), " and "));
    return stated(when, judged);
  }

  /// Requires  wrong within so many calls of the form
  std::optional<history_condition> after_many(call_form const& form, integer calls) const {
    given_answer const within = ask_({{}, form, calls});
    integer first = within.first_wrong;
    if (within.is != answer::wrong) return std::nullopt;
    if (first <= 0)
      for (integer right = 1, wrongs = calls; first <= 0;) {
        integer const middle = right + (wrongs - right) / 2;
        if (wrongs - right <= 1) first = wrongs;
        else (wrong({{}, form, middle}) ? wrongs : right) = middle;
      }
    auto const at_first = [&](call_form const& each) {
      return ask_({std::vector<call_form>(static_cast<std::size_t>(first - 1), each), each}).is;
    };
    // By chance it would be wrong elsewhere, or alone.
    if (first == 1 || at_first(form) != answer::wrong || wrong({{}, form, first - 1})) return std::nullopt;
    conjunction where;
    where.base = plain, where.settled = true;
    if (at_first(plain) != answer::wrong) where = find_conjunction(form, {}, at_first);
    if (!where.settled) return std::nullopt;
    auto const at = [&](integer call) {
      return wrong({std::vector<call_form>(static_cast<std::size_t>(call - 1), where.base), where.base});
    };
    if (at(first + 1)) return stated(fmt::format("from the {} call on", ordinal(first)), where);
    return stated(fmt::format("at {} {} call", at(2 * first) ? "every" : "the", ordinal(first)), where);
  }

  call_form const& failing_;
  std::span<call_form const> earlier_;
  patient_asker const& ask_;
};

}  // namespace

std::optional<history_condition> find_history(call_form const& failing, std::span<call_form const> earlier,
                                              patient_asker const& ask) {
  return historian(failing, earlier, ask).run();
}

}  // namespace attest::audit
