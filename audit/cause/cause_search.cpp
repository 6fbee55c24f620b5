#include "audit/cause/cause_search.hpp"

#include <algorithm>
#include <map>

#include "audit/support/sort_by.hpp"

namespace attest::audit {
namespace {

/// This many failing cases are tried with every hypothesis. A further case is tried with the hypotheses that explain
/// some case before it, and with all hypotheses if none of them explains it.
constexpr std::size_t tried_with_all = 6;
/// A sample of failing cases: more would cost time and tell little more.
constexpr std::size_t most_failing = 64;
/// Larger problems are tried after all others.
constexpr double large = 0x1p23;
/// If the answers use a smaller part of a contract's bound than this, the contract is a poor name for the mistake, as
/// long as another explains as much. It certifies the answers all the same.
constexpr double far_too_wide = 0.125;
/// The share of the time that is for the failing cases.
constexpr double share_of_failing = 0.75;
constexpr std::size_t most_mistakes = 3;
constexpr std::int64_t most_passing = 8;

/// A hypothesis or an event, with the tried cases that it explains.
struct candidate {
  std::string name, sentence;
  hypothesis_kind kind = hypothesis_kind::problem;
  audit::hypothesis const* hypothesis = nullptr;  ///< none: an event, or a contract
  std::vector<char> explains;
  bool less_precise = true;  ///< of a contract: it is so throughout
  double worst = 0;          ///< the largest error in the wrong rows, in units of its bound
  std::int64_t tried_passing = 0, contradicted = 0;

  /// The order among wider bounds: of O alone, of all outputs, presets of less precision, bounds with a fitted
  /// threshold, other presets. One of the first three that is far too wide comes after all of these.
  int rank() const {
    if (hypothesis && hypothesis->scope == precision_scope::fitted) return 3;
    if (!hypothesis && !less_precise) return 4;
    int const narrow = !hypothesis ? 2 : hypothesis->scope == precision_scope::output ? 0 : 1;
    return narrow + (worst < far_too_wide ? 5 : 0);
  }
};

std::int64_t count_of(std::vector<char> const& of) { return std::ranges::count(of, 1); }

std::vector<char> united(std::vector<char> a, std::vector<char> const& b) {
  for (std::size_t at = 0; at < a.size(); ++at) a[at] = a[at] || b[at];
  return a;
}

class search {
 public:
  explicit search(cause_question const& asked) : asked_(asked) {
    for (event_row const& row : event_hypotheses())
      candidates_.push_back({std::string(row.name), std::string(row.sentence), hypothesis_kind::problem, nullptr, {}});
    for (audit::hypothesis const& row : hypotheses()) {
      if (row.name == "exp-to-2^-21")
        for (holding_contract const& other : asked.contracts) {
          candidates_.push_back({"contract-" + other.name, other.sentence, hypothesis_kind::precision, nullptr, {}});
          candidates_.back().less_precise = other.less_precise;
        }
      candidates_.push_back({row.name, row.sentence, row.kind, &row, {}});
    }
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
    std::vector<candidate*> chosen = smallest_set();
    if (tried_.size() == 1 && !chosen.empty()) chosen = all_that_fit(*chosen.front());
    named_cause cause;
    cause.of = std::ssize(tried_), cause.failed = std::ssize(asked_.failing);
    std::vector<char> explained(tried_.size());
    for (candidate* const each : chosen) explained = united(std::move(explained), each->explains);
    cause.explains = count_of(explained);
    for (candidate* each : chosen) {
      each = settled(each, chosen.size() == 1);
      cause.mistakes.push_back(
          {each->name, each->sentence, count_of(each->explains), each->tried_passing, each->contradicted});
    }
    std::vector<std::pair<std::int64_t, std::string>> left;
    for (std::size_t at = 0; at < tried_.size(); ++at)
      if (!explained[at]) left.emplace_back(tried_[at]->number, tried_[at]->full_name());
    std::ranges::sort(left);
    for (auto& [number, name] : left) cause.unexplained.push_back(std::move(name));
    return cause;
  }

 private:
  bool is_late() const { return asked_.late(tried_.empty() ? 1 : share_of_failing); }

  void try_case(searched_case const& failing) {
    std::vector<char> explained(candidates_.size());
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
      candidate& each = candidates_[at];
      if (each.name.starts_with("contract-")) {
        explained[at] = holds_under(each, failing.number);
        if (explained[at] && answers) note_worst(each, *answers);
      }
      if (!each.hypothesis || right) continue;
      if (tried_.size() >= tried_with_all && count_of(each.explains) == 0) continue;
      if (is_late()) return;  // a case that was tried in part is not counted
      explained[at] = fit_of(*each.hypothesis, *answers, &each.worst) == fit::certified;
    }
    if (tried_.size() >= tried_with_all && std::ranges::find(explained, 1) == explained.end() && !right)
      for (std::size_t at = 0; at < candidates_.size() && !is_late(); ++at)
        if (candidate& each = candidates_[at]; each.hypothesis)
          explained[at] = fit_of(*each.hypothesis, *answers, &each.worst) == fit::certified;
    if (is_late()) return;
    tried_.push_back(&failing);
    for (std::size_t at = 0; at < candidates_.size(); ++at) candidates_[at].explains.push_back(explained[at]);
  }

  holding_contract const& contract_of(candidate const& each) const {
    return *std::ranges::find(asked_.contracts, each.name.substr(9), &holding_contract::name);
  }
  bool holds_under(candidate const& each, std::int64_t number) const {
    return contract_of(each).cases.contains(number);
  }
  /// How much of the contract's bound the wrong rows use.
  void note_worst(candidate& each, answered_case const& answers) const {
    for (answered_case::judged_call const& judged : answers.calls)
      for (violation const& wrong : judged.wrong)
        fit_of_row({{judged.call.problem, judged.call.outputs, contract_of(each).claim}}, wrong, each.worst);
  }

  /// Greedy up to most_mistakes; then a single one, or a pair, that explains as much.
  std::vector<candidate*> smallest_set() {
    std::vector<candidate*> chosen;
    std::vector<char> covered(tried_.size());
    while (chosen.size() < most_mistakes) {
      candidate* best = nullptr;
      std::int64_t most = count_of(covered);
      for (candidate& each : candidates_) {
        auto const count = count_of(united(covered, each.explains));
        if (count > most || (best && count == most && is_preferred(each, *best))) best = &each, most = count;
      }
      if (!best) break;
      chosen.push_back(best), covered = united(std::move(covered), best->explains);
    }
    std::int64_t const goal = count_of(covered);
    if (chosen.size() > 2)
      for (std::size_t a = 0; a < candidates_.size(); ++a)
        for (std::size_t b = a + 1; b < candidates_.size(); ++b)
          if (count_of(united(candidates_[a].explains, candidates_[b].explains)) == goal)
            return {&candidates_[a], &candidates_[b]};
    // Candidates that explain equally much keep their order.
    for (std::size_t end = 1; end < chosen.size(); ++end)
      for (std::size_t at = end; at > 0 && count_of(chosen[at]->explains) > count_of(chosen[at - 1]->explains); --at)
        std::swap(chosen[at], chosen[at - 1]);
    return chosen;
  }

  /// Is a hypothesis that explains as much, and stands behind another in the table, the better name? Of contracts that
  /// widen the bounds of as many outputs it is the narrower one, as long as neither has a threshold that was fitted.
  static bool is_preferred(candidate const& later, candidate const& earlier) {
    if (later.kind != hypothesis_kind::precision || earlier.kind != hypothesis_kind::precision) return false;
    constexpr double narrower = 1.00001;  // less is no difference
    if (later.rank() != earlier.rank()) return later.rank() < earlier.rank();
    return later.worst > narrower * earlier.worst;
  }

  /// Asks passing cases about a chosen mistake. If they contradict it, another mistake that explains the same cases and
  /// that no passing case contradicts takes its place.
  candidate* settled(candidate* chosen, bool alone) {
    ask_passing(*chosen);
    if (!alone || chosen->contradicted == 0 || chosen->kind == hypothesis_kind::precision) return chosen;
    for (candidate& other : candidates_) {
      if (&other == chosen || other.kind == hypothesis_kind::precision || !other.hypothesis) continue;
      if (other.hypothesis->fits_answers) continue;
      if (other.explains != chosen->explains) continue;
      ask_passing(other);
      if (other.contradicted == 0) return &other;
    }
    return chosen;
  }

  /// Is another threshold of the same bound among them? The table has the narrowest first.
  static bool has_narrower(std::vector<candidate*> const& fits, candidate const& wider) {
    if (!wider.hypothesis || wider.hypothesis->scope != precision_scope::fitted) return false;
    std::string const same = wider.name.substr(0, wider.name.rfind('-'));
    return std::ranges::any_of(fits, [&](candidate const* each) { return each->name.starts_with(same); });
  }

  /// For one failing case: the chosen mistake, and the others of its sort that explain it as well. Among problems and
  /// conventions, mistakes that a passing case contradicts are left out unless all are contradicted. Among wider
  /// bounds, the far too wide are left out, and of bounds with a threshold all except the narrowest.
  std::vector<candidate*> all_that_fit(candidate& chosen) {
    bool const is_event = !chosen.hypothesis && chosen.kind != hypothesis_kind::precision;
    if (is_event) return {&chosen};  // it was seen
    bool const precise = chosen.kind == hypothesis_kind::precision;
    std::vector<candidate*> fits, uncontradicted;
    for (candidate& each : candidates_) {
      bool const alike = precise == (each.kind == hypothesis_kind::precision) && (precise || each.hypothesis);
      bool const fitted = each.hypothesis && each.hypothesis->fits_answers;
      bool const wide = precise && (each.worst < far_too_wide || has_narrower(fits, each));
      if (&each != &chosen && (!alike || fitted || wide || each.explains.front() == 0)) continue;
      ask_passing(each);
      fits.push_back(&each);
      if (each.contradicted == 0) uncontradicted.push_back(&each);
    }
    if (precise) std::ranges::swap(fits.front(), *std::ranges::find(fits, &chosen));
    return uncontradicted.empty() || precise ? fits : uncontradicted;
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
  std::map<std::int64_t, std::optional<answered_case>> passing_;
};

}  // namespace

std::optional<named_cause> find_cause(cause_question const& asked) { return search(asked).run(); }

}  // namespace attest::audit
