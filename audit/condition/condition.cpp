#include "audit/condition/condition.hpp"

#include <algorithm>
#include <array>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/condition/history.hpp"
#include "audit/condition/observed.hpp"
#include "audit/condition/search.hpp"

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

  given_answer once(call_form const& form) {
    if (auto const known = std::ranges::find(known_, form, &known_answer::form); known != known_.end())
      return known->given;
    given_answer const given = anew({{}, form});
    known_.push_back({form, given});
    return given;
  }

  /// Gaussian values stand for all of `values`, once there are more than one.
  answer of(call_form form) {
    if (form.values != value_form::gaussian) return once(form).is;
    answer is = answer::refused;
    for (value_form const values : values_) {
      form.values = values;
      if (is = once(form).is; is == answer::refused) break;
      if (is == answer::wrong) {
        if (std::ranges::find(seen_, values) == seen_.end()) seen_.push_back(values);
        break;
      }
    }
    return is;
  }
  void ask_with(std::vector<value_form> values, bool usual) { values_ = std::move(values), usual_ = usual; }
  /// Were Gaussian values wrong as well?
  bool usual() const { return usual_; }
  /// The values with which `of` had wrong answers.
  std::vector<value_form> const& seen() const { return seen_; }

  /// Whether single calls are answered as they were before: five that were wrong, five that were right, the smallest.
  bool answers_alike() {
    std::vector<std::pair<std::int64_t, std::size_t>> by_products;  // and by number
    for (std::size_t at = 0; at < known_.size(); ++at) {
      problem::sizes const& s = known_[at].form.size;
      by_products.emplace_back(s.b * s.hq * s.n * s.m * (s.d + s.dv), at);
    }
    std::ranges::sort(by_products);
    for (answer const is : {answer::wrong, answer::right}) {
      int asked = 0;
      for (auto const& [products, at] : by_products)
        if (known_[at].given.is == is && asked++ < 5 && anew({{}, known_[at].form}).is != is) return false;
    }
    return true;
  }

  /// Among the forms with the features of `base`: in a domain, several features may be one band.
  bool any_wrong_outside(std::function<bool(call_form const&)> const& holds, call_form const& base) const {
    return std::ranges::any_of(known_, [&](known_answer const& known) {
      return known.given.is == answer::wrong && known.form.options == base.options && !holds(known.form);
    });
  }

  void add_to(std::vector<judged_form>& calls) const {
    for (known_answer const& known : known_)
      if (known.given.is != answer::refused) calls.push_back({known.form, known.given.is == answer::wrong});
  }
  std::int64_t count() const { return count_; }

 private:
  struct known_answer {
    call_form form;
    given_answer given;
  };
  asker const& ask_;
  std::vector<known_answer> known_;
  std::vector<value_form> values_{value_form::gaussian}, seen_;
  bool usual_ = true;
  std::int64_t count_ = 0;
};

constexpr std::ptrdiff_t most_clauses = 3;

/// Of the forms that are smaller than a failing one and are answered.
constexpr int most_smaller = 12;

/// The same with smaller sizes, in the order in which they are tried.
std::vector<call_form> smaller_forms(call_form const& form, call_domain const& domain) {
  std::vector<call_form> forms;
  problem::sizes const& s = form.size;
  std::int64_t const group = std::max<std::int64_t>(s.hk > 0 ? s.hq / s.hk : 1, 1);
  std::array const lengths{std::array{s.n, s.m},
                           std::array<std::int64_t, 2>{4096, 4096},
                           std::array<std::int64_t, 2>{2048, 2048},
                           std::array<std::int64_t, 2>{1280, 1280},
                           std::array<std::int64_t, 2>{64, 8192},
                           std::array<std::int64_t, 2>{4096, 64},
                           std::array<std::int64_t, 2>{600, 600},
                           std::array<std::int64_t, 2>{160, 160}};
  for (std::int64_t const heads : {s.b * s.hq, group, std::int64_t{1}})
    for (std::int64_t const width : {std::max(s.d, s.dv), std::int64_t{64}, std::int64_t{8}})
      for (auto const& [n, m] : lengths) {
        call_form smaller = form;
        problem::sizes& to = smaller.size;
        if (heads < s.b * s.hq) to.b = 1, to.hq = heads, to.hk = 1;
        to.d = std::min(s.d, width), to.dv = std::min(s.dv, width);
        to.n = std::min(s.n, n), to.m = std::min(s.m, m);
        smaller.memory.overlap = std::min({form.memory.overlap, to.d, to.dv});
        keep_to(domain, smaller);
        if (forms.empty() || forms.back() != smaller) forms.push_back(smaller);
      }
  return forms;
}

/// Makes `failing` a form that is wrong by itself, with values that show it well, the special ones last.
/// Ensures   false where it is right with all of them
bool find_wrong_alone(call_form& failing, questioner& to, std::span<value_form const> special) {
  using enum value_form;
  constexpr double clear = 16;  // so many bounds: half the keys or twice the heads do not hide it
  value_form const given = failing.values;
  auto const wrong_with = [&](value_form values) {
    failing.values = values;
    given_answer const said = to.once(failing);
    return said.is == answer::wrong ? said.bounds : 0;
  };
  if (wrong_with(gaussian) >= clear) return true;
  // Those that show it best stand for all.
  constexpr std::array tried{edge_digits, digits, gaussian, pointed};
  std::vector<std::pair<double, std::size_t>> sharp;
  for (std::size_t at = 0; at < tried.size(); ++at)
    if (double const bounds = wrong_with(tried[at]); bounds > 0) sharp.emplace_back(-bounds, at);
  if (!sharp.empty()) {
    bool const usual = std::ranges::any_of(sharp, [&](auto const& one) { return tried[one.second] == gaussian; });
    std::ranges::sort(sharp);
    if (sharp.size() > 2) sharp.resize(2);
    std::vector<value_form> values;
    for (auto const& one : sharp) values.push_back(tried[one.second]);
    failing.values = gaussian;
    to.ask_with(std::move(values), usual);
    return true;
  }
  for (value_form const values : special)
    if (wrong_with(values) > 0) return true;
  failing.values = given;
  return false;
}

/// The condition that the questions settle. Returns nothing if they leave it open. `by_chance`: the same question had
/// two answers.
std::optional<condition> settled(call_form failing, std::span<judged_form const> earlier, questioner& to,
                                 std::int64_t element_bytes, call_domain const& domain,
                                 std::span<value_form const> special, bool& by_chance) {
  bool wrong_alone = false;
  if (call_form plain = failing; plain.values = value_form::gaussian, to.once(plain).is == answer::refused) {
    int tried = 0;
    for (call_form& smaller : smaller_forms(failing, domain)) {
      smaller.values = value_form::gaussian;
      if (to.once(smaller).is == answer::refused) continue;
      if (++tried > most_smaller) break;
      if (find_wrong_alone(smaller, to, special)) {
        failing = smaller, wrong_alone = true;
        break;
      }
    }
  } else {
    wrong_alone = find_wrong_alone(failing, to, special);
  }
  if (!wrong_alone) {
    std::vector<call_form> before;
    for (judged_form const& call : earlier) before.push_back(call.form);
    auto const found = find_history(failing, before, [&](question const& asked) { return to.anew(asked); });
    by_chance = !found;
    return found ? std::optional(condition{found->sentence, found->clauses}) : std::nullopt;
  }
  std::vector<call_form> right;
  for (judged_form const& call : earlier)
    if (problem::sizes const& s = call.form.size; !call.wrong && s.b > 0 && s.hq > 0 && s.n > 0 && s.dv > 0)
      right.push_back(call.form);
  conjunction found =
      find_conjunction(failing, right, [&](call_form const& form) { return to.of(form); }, element_bytes, domain);
  by_chance = !to.answers_alike();
  if (by_chance || !found.settled || found.elsewhere) return std::nullopt;
  if (!to.usual() && to.seen().size() == 1 && failing.values == value_form::gaussian) {
    condition_clause needed{.is = condition_clause::kind::values};
    needed.form_of_values = to.seen().front();
    found.clauses.push_back(needed);
    found.clauses = in_order(std::move(found.clauses));
  }
  auto const texts = texts_of(found.clauses);
  auto const holds = predicate_of(found.clauses);
  if (std::ssize(texts) > most_clauses || to.any_wrong_outside(holds, found.base)) return std::nullopt;
  return condition{sentence_of(found.clauses), texts, 0, holds};
}

}  // namespace

std::optional<condition> find_condition(call_form const& failing, std::span<judged_form const> earlier,
                                        asker const& ask, std::int64_t element_bytes, call_domain const& domain,
                                        std::span<value_form const> special) {
  questioner to(ask);
  bool by_chance = false;
  std::optional<condition> found;
  try {
    found = settled(failing, earlier, to, element_bytes, domain, special, by_chance);
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

std::string sentence_beside(condition const& found, std::span<judged_form const> judged) {
  bool const elsewhere = found.holds && std::ranges::any_of(judged, [&](judged_form const& call) {
                           return call.wrong && !found.holds(call.form);
                         });
  return elsewhere ? "around this call: " + found.sentence : found.sentence;
}

}  // namespace attest::audit
