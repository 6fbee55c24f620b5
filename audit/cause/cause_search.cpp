#include "audit/cause/cause_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "audit/cause/candidates.hpp"
#include "audit/cause/gradient_mistakes.hpp"
#include "audit/support/sort_by.hpp"

namespace attest::audit {
namespace {

/// So many failing cases are tried with every hypothesis. A later one is tried with the hypotheses that explain a case
/// before it, and with all if none of them explains it.
constexpr std::size_t tried_with_all = 6;
constexpr std::size_t most_failing = 64;   ///< more would cost time and tell little more
constexpr double large = 0x1p23;           ///< larger problems are tried after all others
constexpr double share_of_failing = 0.75;  ///< of the time
constexpr std::int64_t most_passing = 8;

class search {
 public:
  explicit search(cause_question const& asked) : asked_(asked) {
    for (event_row const& row : event_hypotheses())
      candidates_.push_back({std::string(row.name), std::string(row.sentence), hypothesis_kind::problem, nullptr, {}});
    for (audit::hypothesis const& row : hypotheses())
      if (row.kind != hypothesis_kind::precision) candidates_.push_back({row.name, row.sentence, row.kind, &row, {}});
  }

  std::optional<named_cause> run() {
    std::vector<std::pair<double, searched_case const*>> later;
    auto const enough = [&] { return asked_.late(share_of_failing) || tried_.size() >= most_failing; };
    auto const products_of = [](auto const& each) { return each.first; };
    for (auto next = asked_.failing.begin(); next != asked_.failing.end() && !enough();) {
      // A turn of the checks ends where one of them comes again.
      std::set<std::string_view> checks;
      std::vector<std::pair<double, searched_case const*>> turn;
      for (; next != asked_.failing.end() && checks.insert(next->check).second; ++next)
        turn.emplace_back(asked_.products(*next), &*next);
      sort_by(turn, products_of);
      for (auto const& [products, failing] : turn) {
        if (enough()) break;
        if (products > large) later.emplace_back(products, failing);
        else try_case(*failing);
      }
    }
    sort_by(later, products_of);
    for (auto const& [products, failing] : later) {
      if (enough()) break;
      try_case(*failing);
    }
    if (tried_.empty()) return std::nullopt;
    if (are_passes()) put_backward_first(candidates_);
    candidates_.reserve(candidates_.size() + hypotheses().size() + asked_.contracts.size());  // they are pointed at
    std::vector<candidate*> chosen = smallest_set(candidates_, cause_of());
    if (explained_by(chosen, cause_of()) < cause_of())
      add_seen_precision(), chosen = smallest_set(candidates_, cause_of());
    if (explained_by(chosen, cause_of()) < cause_of() || chosen.size() > 1)
      if (candidate* const one = one_that_nothing_contradicts(candidates_, cause_of())) chosen = {one};
    bool whole = !chosen.empty() && explained_or_open(chosen) == cause_of() && fit_together(chosen, cause_of());
    if (whole && chosen.size() == 1) chosen.front() = settled(chosen.front());
    if (whole && chosen.size() == 1 && tried_.size() > 1) {
      chosen = told_apart(ties_of(chosen.front()));
      whole = chosen.size() == 1 || !asked_.telling_apart || !asked_.late(1);  // else there was no time to tell
      if (whole) chosen.resize(1);
    }
    if (whole && chosen.size() == 1 && (is_flushed() || tried_.size() < tried_with_all))
      chosen.front()->contradicted += count_against(*chosen.front());
    if (whole && chosen.size() == 1 && chosen.front()->contradicted > 0) {
      add_seen_precision();
      for (candidate& each : candidates_)
        if (each.kind == hypothesis_kind::precision && count_of(each.explains) == cause_of()) chosen = {&each};
    }
    for (candidate* const each : chosen) {
      if (!whole || chosen.size() > 1) ask_passing(*each);
      whole = whole && (chosen.size() == 1 || each->contradicted == 0);
    }
    // Few answers may fit by chance, and no right one was asked.
    if (whole && asked_.late(1) && tried_.size() < tried_with_all && chosen.front()->hypothesis)
      whole = chosen.front()->tried_passing > 0 || asked_.passing.empty();
    if (!whole) chosen = worth_telling(chosen, cause_of());
    if (whole && tried_.size() == 1) chosen = all_that_fit(*chosen.front());
    named_cause cause;
    if (whole) cause.open = cause_of() - explained_by(chosen, cause_of());
    cause.of = cause_of(), cause.failed = std::ssize(asked_.failing), cause.explains = explained_by(chosen, cause_of());
    std::vector<char> explained(tried_.size());
    for (candidate* const each : chosen) explained = united(std::move(explained), each->explains);
    if (cause.open > 0) explained = united(std::move(explained), chosen.front()->open);
    for (candidate const* const each : chosen)
      (whole ? cause.mistakes : cause.partly)
          .push_back({each->name, sentence_of(*each), count_of(each->explains), each->tried_passing, each->contradicted,
                      each->hypothesis ? each->hypothesis->accepted : std::vector<std::string>(),
                      each->hypothesis ? each->hypothesis->bug_class : any_class});
    std::set<std::pair<std::int64_t, std::string>> left;
    for (std::size_t at = 0; at < tried_.size(); ++at)
      if (!explained[at]) left.emplace(tried_[at]->number, tried_[at]->full_name());
    for (auto const& [number, name] : left) cause.unexplained.push_back(name);
    return cause;
  }

 private:
  /// Is every wrong answer the answer to a backward pass? `among`: in these cases; empty: in all.
  bool are_passes(std::vector<char> const& among = {}) const {
    auto const is_pass = [](answered_case::judged_call const& each) {
      return each.wrong.empty() || each.call.problem.draft().d_out;
    };
    bool any = false;
    for (std::size_t at = 0; at < answers_.size(); ++at) {
      if (!answers_[at] || (!among.empty() && among[at] == 0)) continue;
      any |= answers_[at]->is_wrong();
      if (!std::ranges::all_of(answers_[at]->calls, is_pass)) return false;
    }
    return any;
  }
  /// What attention does wrongly everywhere need not be wrong in the forward pass.
  std::string sentence_of(candidate const& of) const {
    bool const any_pass = of.hypothesis && !of.hypothesis->of_gradients && of.kind == hypothesis_kind::problem;
    return any_pass && are_passes(of.explains) ? in_backward_pass(of.sentence) : of.sentence;
  }
  bool is_late() const { return asked_.late(tried_.empty() ? 1 : share_of_failing); }

  void try_case(searched_case const& failing) {
    std::vector<char> explained(candidates_.size()), open(candidates_.size());
    auto const take = [&](std::size_t at, answered_case const& answered) {
      fit const is = fit_of(*candidates_[at].hypothesis, answered);
      explained[at] = is == fit::certified, open[at] = is == fit::open;
    };
    auto const note = [&](call_event event) {
      for (std::size_t at = 0; at < event_hypotheses().size(); ++at)
        if (event_hypotheses()[at].id == event) explained[at] = 1;
    };
    std::optional<answered_case> answers;
    bool const hung = event_of(failing.classes) == call_event::hang;
    if (!hung) answers = asked_.answers(failing);
    if (is_late() || (!answers && !event_of(failing.classes))) return;  // it cannot be asked
    if (answers)
      for (call_event const event : answers->events) note(event);
    bool const right = !answers || !answers->is_wrong();
    if (right && (!answers || answers->events.empty()))
      if (auto const event = event_of(failing.classes)) note(*event);
    for (std::size_t at = 0; at < candidates_.size(); ++at) {
      candidate const& each = candidates_[at];
      if (each.hypothesis && answers && ends_calls(*each.hypothesis, *answers)) explained[at] = 1;
      if (!each.hypothesis || right) continue;
      if (tried_.size() >= tried_with_all && count_of(each.explains) == 0) continue;
      if (is_late()) return;  // a case that was tried in part is not counted
      take(at, *answers);
    }
    if (tried_.size() >= tried_with_all && std::ranges::find(explained, 1) == explained.end() && !right)
      for (std::size_t at = 0; at < candidates_.size() && !is_late(); ++at)
        if (candidates_[at].hypothesis) take(at, *answers);
    if (is_late()) return;
    tried_.push_back(&failing), answers_.push_back(std::move(answers));
    for (std::size_t at = 0; at < candidates_.size(); ++at)
      candidates_[at].explains.push_back(explained[at]), candidates_[at].open.push_back(open[at]);
  }

  std::int64_t cause_of() const { return std::ssize(tried_); }
  std::int64_t explained_or_open(std::vector<candidate*> const& chosen) const {
    if (chosen.size() == 1 && is_uncontradicted(*chosen.front(), cause_of())) return cause_of();
    return explained_by(chosen, cause_of());
  }

  bool is_flushed() const {
    auto const is_wrong = [](auto const& answers) { return answers && answers->is_wrong(); };
    return std::ranges::any_of(answers_, is_wrong) &&
           std::ranges::all_of(answers_, [](auto const& answers) { return !answers || answers->is_flushed(); });
  }

  /// Hypotheses about precision that were confirmed, with the failing cases that they explain.
  void add_seen_precision() {
    if (asked_.late(1) || std::exchange(knows_arithmetic_, true) ||
        std::ranges::none_of(answers_, [](auto const& one) { return one && one->is_wrong(); }))
      return;
    seen_arithmetic seen = asked_.arithmetic ? asked_.arithmetic() : seen_arithmetic();
    if (is_flushed()) seen.try_emplace("outputs-flushed");
    for (audit::hypothesis const& row : hypotheses()) {
      if (row.kind != hypothesis_kind::precision || !confirms(seen, row)) continue;
      candidate added{row.name, row.sentence, row.kind, &row, {}};
      for (auto const& answers : answers_) {
        if (asked_.late(1)) return;
        fit const is = answers && answers->is_wrong() ? fit_of(row, *answers) : fit::refuted;
        added.explains.push_back(is == fit::certified), added.open.push_back(is == fit::open);
      }
      // The step was seen by itself: where its bound says nothing of a few cases, they do not speak against it.
      if (2 * count_of(added.explains) > cause_of()) added.explains = united(std::move(added.explains), added.open);
      // The same step, rounded more often, is no other mistake.
      auto const once = std::ranges::find(candidates_, row.step, &candidate::name);
      if (once != candidates_.end()) {
        once->explains = united(std::move(once->explains), added.explains);
        continue;
      }
      if (row.bounds != threshold_of::nothing) added.sentence = seen.find(row.step)->second.sentence;
      candidates_.push_back(std::move(added));
    }
    for (holding_contract const& other : asked_.contracts) {
      if (!seen.contains("contract-" + other.name)) continue;
      candidate added{"contract-" + other.name, other.sentence, hypothesis_kind::precision, nullptr, {}};
      for (searched_case const* const tried : tried_) added.explains.push_back(other.cases.contains(tried->number));
      added.open.resize(tried_.size());
      candidates_.push_back(std::move(added));
    }
  }

  /// Asks passing cases about the mistake that explains everything. If they contradict it, another mistake takes its
  /// place, if it explains the same cases and no passing case contradicts it.
  candidate* settled(candidate* chosen) {
    ask_passing(*chosen);
    if (chosen->contradicted == 0 || chosen->kind == hypothesis_kind::precision) return chosen;
    for (candidate& other : candidates_) {
      if (&other == chosen || other.kind == hypothesis_kind::precision || !other.hypothesis) continue;
      if (other.hypothesis->fits_answers || other.explains != chosen->explains) continue;
      if (count_of(chosen->explains) < cause_of() && !is_uncontradicted(other, cause_of())) continue;
      ask_passing(other);
      if (other.contradicted == 0) return &other;
    }
    return chosen;
  }

  /// For one failing case: the chosen mistake, and the others that explain it as well. Mistakes that a passing case
  /// contradicts are left out unless all are contradicted.
  std::vector<candidate*> all_that_fit(candidate& chosen) {
    if (!chosen.hypothesis || chosen.kind == hypothesis_kind::precision) return {&chosen};  // it was seen
    std::vector<candidate*> fits, uncontradicted;
    for (candidate& each : candidates_) {
      bool const alike = each.kind != hypothesis_kind::precision && each.hypothesis && !each.hypothesis->fits_answers;
      if (&each != &chosen && (!alike || each.explains.front() == 0)) continue;
      ask_passing(each);
      fits.push_back(&each);
      if (each.contradicted == 0) uncontradicted.push_back(&each);
    }
    return told_apart(uncontradicted.empty() ? fits : uncontradicted);
  }

  /// The mistake, and others that explain the same cases.
  std::vector<candidate*> ties_of(candidate* chosen) {
    std::vector<candidate*> ties{chosen};
    auto const is_asked = [](candidate const& of) {
      return of.kind == hypothesis_kind::problem && of.hypothesis && !of.hypothesis->fits_answers;
    };
    for (candidate& each : candidates_)
      if (&each != chosen && is_asked(*chosen) && is_asked(each) && each.explains == chosen->explains)
        ties.push_back(&each);
    return ties;
  }

  /// Without the mistakes that wrong answers to calls made for this question contradict, unless they contradict all. A
  /// call that is answered rightly tells where the kernel is wrong, not which mistake it makes.
  std::vector<candidate*> told_apart(std::vector<candidate*> fits) const {
    if (fits.size() < 2 || !asked_.telling_apart || asked_.late(1)) return fits;
    for (answered_case const& answers : asked_.telling_apart(*tried_.front())) {
      std::vector<candidate*> left;
      if (!answers.is_wrong()) continue;
      for (candidate* const each : fits)
        if (fit_of(*each->hypothesis, answers) != fit::refuted) left.push_back(each);
      if (asked_.late(1)) return fits;
      if (!left.empty()) fits = std::move(left);
    }
    return fits;
  }

  /// The wrong answers to calls made for this question that contradict a mistake.
  std::int64_t count_against(candidate const& of) const {
    if (!of.hypothesis || of.kind == hypothesis_kind::precision || !asked_.telling_apart || asked_.late(1)) return 0;
    auto const answers = asked_.telling_apart(*tried_.front());
    return std::ranges::count_if(answers, [&](answered_case const& each) {
      return each.is_wrong() && fit_of(*of.hypothesis, each) == fit::refuted;
    });
  }

  void ask_passing(candidate& about) {
    if (!about.hypothesis || about.kind == hypothesis_kind::precision || about.tried_passing > 0) return;
    for (searched_case const& passing : asked_.passing) {
      if (about.tried_passing >= most_passing || asked_.late(1)) return;
      if (!asked_.concerns(passing, *about.hypothesis)) continue;
      auto const at = passing_.find(passing.number);
      auto const& answers =
          at != passing_.end() ? at->second : passing_.emplace(passing.number, asked_.answers(passing)).first->second;
      if (!answers || answers->is_wrong()) continue;
      fit const is = fit_of(*about.hypothesis, *answers);
      if (is == fit::unconcerned || is == fit::open || asked_.late(1)) continue;
      ++about.tried_passing, about.contradicted += is == fit::refuted;
    }
  }

  cause_question const& asked_;
  std::vector<candidate> candidates_;
  std::vector<searched_case const*> tried_;
  std::vector<std::optional<answered_case>> answers_;  ///< of the cases that were tried
  std::map<std::int64_t, std::optional<answered_case>> passing_;
  bool knows_arithmetic_ = false;
};

}  // namespace

std::optional<named_cause> find_cause(cause_question const& asked) { return search(asked).run(); }

}  // namespace attest::audit
