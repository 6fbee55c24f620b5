#include "audit/session/condition.hpp"

#include <algorithm>

#include "audit/session/condition_history.hpp"
#include "audit/session/condition_observed.hpp"
#include "audit/session/condition_search.hpp"

namespace attest::audit {
namespace {

struct no_time_left {};

/// Asks each question about a single call once, and counts.
class questioner {
 public:
  explicit questioner(asker const& ask) : ask_(ask) {}

  given_answer anew(question const& asked) {
    auto const given = ask_(asked);
    if (!given) throw no_time_left{};
    ++count_;
    return *given;
  }

  answer of(call_form const& form) {
    if (auto const known = std::ranges::find(known_, form, &known_answer::form); known != known_.end())
      return known->is;
    answer const is = anew({{}, form}).is;
    known_.push_back({form, is});
    return is;
  }

  /// Whether single calls are answered as they were before: five that were wrong, five that were right.
  bool answers_alike() {
    for (answer const is : {answer::wrong, answer::right}) {
      int asked = 0;
      for (known_answer const& known : known_)
        if (known.is == is && asked++ < 5 && anew({{}, known.form}).is != is) return false;
    }
    return true;
  }

  void add_to(std::vector<judged_form>& calls) const {
    for (known_answer const& known : known_)
      if (known.is != answer::refused) calls.push_back({known.form, known.is == answer::wrong});
  }
  std::int64_t count() const { return count_; }

 private:
  struct known_answer {
    call_form form;
    answer is;
  };
  asker const& ask_;
  std::vector<known_answer> known_;
  std::int64_t count_ = 0;
};

/// What the questions settle; nothing where they leave it open, `by_chance` where the same question had two answers.
std::optional<condition> settled(call_form failing, std::span<judged_form const> earlier, questioner& to,
                                 bool& by_chance) {
  bool wrong_alone = to.of(failing) == answer::wrong;
  for (value_form const values : {value_form::gaussian, value_form::digits, value_form::pointed}) {
    if (wrong_alone) break;
    call_form other = failing;
    other.values = values;
    if ((wrong_alone = to.of(other) == answer::wrong)) failing = other;
  }
  if (!wrong_alone) {
    std::vector<call_form> before;
    for (judged_form const& call : earlier) before.push_back(call.form);
    auto const found = find_history(failing, before, [&](question const& asked) { return to.anew(asked); });
    by_chance = !found;
    return found ? std::optional(condition{found->sentence, found->clauses, 0}) : std::nullopt;
  }
  std::vector<call_form> right;
  for (judged_form const& call : earlier)
    if (!call.wrong) right.push_back(call.form);
  conjunction const found = find_conjunction(failing, right, [&](call_form const& form) { return to.of(form); });
  by_chance = !to.answers_alike();
  if (by_chance || !found.settled) return std::nullopt;
  return condition{sentence_of(found.clauses) + (found.elsewhere ? ", and elsewhere too" : ""), texts_of(found.clauses),
                   0};
}

}  // namespace

std::optional<condition> find_condition(call_form const& failing, std::span<judged_form const> earlier,
                                        asker const& ask) {
  questioner to(ask);
  bool by_chance = false;
  std::optional<condition> found;
  try {
    found = settled(failing, earlier, to, by_chance);
  } catch (no_time_left const&) {}
  if (!found && !by_chance) {
    std::vector<judged_form> asked(earlier.begin(), earlier.end());
    asked.push_back({failing, true});
    to.add_to(asked);
    found = observed_condition(asked);
  }
  if (found) found->questions = to.count();
  return found;
}

}  // namespace attest::audit
