// What an audit found: findings, the table of checks, the verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/judge/judgement.hpp"
#include "audit/report/pictures.hpp"
#include "problem/checks.hpp"
#include "problem/result.hpp"

namespace attest::audit {

enum class verdict : std::uint8_t { certified = 0, refuted = 1, undecided = 3 };  ///< exit codes of the program

/// A finding reduced to a small problem that still shows it.
struct shrunk_finding {
  violation what = {};
  problem::sizes sizes{};
  std::string file = {};                   ///< a safetensors file, or empty: it could not be written
  std::vector<input_listing> inputs = {};  ///< where they are few
};

/// Something wrong, with all that is needed to see it again.
struct finding {
  violation what;
  std::string check, case_name;
  problem::sizes sizes{};
  std::string reproducer;  ///< a command line
  bool waived = false;
  std::int64_t number = 0;  ///< of its case among all that the audit has, counted from 1
  std::optional<shrunk_finding> shrunk = {};
  std::optional<finding_pictures> pictures = {};
  std::string no_pictures = {};  ///< why there are none, where there are none
  std::string foreign_class =
      {};  ///< a word in the place of the class, in a file, that is no class: said again as it is

  std::string_view class_token() const noexcept { return what.bug_class ? token_of(*what.bug_class) : foreign_class; }
  violation const& shortest() const noexcept { return shrunk ? shrunk->what : what; }
  problem::sizes const& smallest() const noexcept { return shrunk ? shrunk->sizes : sizes; }
};

/// One row of the table of checks.
struct check_result {
  std::string name;
  std::int64_t cases = 0, failed = 0, undecided = 0, unsupported = 0;
  judgement sum;
  std::set<std::string> conventions = {};  ///< that were relaxed for some case of it
  std::int64_t first = 0;                  ///< number of its first case
  double seconds = 0;                      ///< of the kernel and of judging
};

/// A sentence that is true, perhaps unwelcome, and refutes nothing.
struct observation {
  std::string kind;         ///< after the third of a kind the rest is counted; empty: of the run itself
  std::int64_t number = 0;  ///< of its case
  std::string sentence;
};

/// A point of a stability curve.
struct curve_point {
  std::string axis;  ///< "score range", "keys", "head dimension", "value offset"
  double place = 0, error_in_bounds = 0;
  bool failed = false;
  std::int64_t number = 0;  ///< of its case
};

struct report {
  std::string kernel, contract;
  std::optional<std::uint64_t> seed;                           ///< none where nothing was generated
  std::optional<std::pair<std::int64_t, std::int64_t>> shard;  ///< index, of
  std::string asked;               ///< options that decide the cases and how they are judged; shards agree on them
  std::int64_t all_cases = 0;      ///< of all shards together
  bool complete = false;           ///< every case that must be answered was
  std::string incomplete_because;  ///< if not
  verdict answer = verdict::undecided;
  std::vector<check_result> checks;
  std::vector<finding> findings;                                 ///< refuting ones first, then waived
  std::vector<std::string> observations;                         ///< sentences: true, perhaps unwelcome, not refuting
  std::vector<observation> told;                                 ///< those of them that belong to a case
  std::vector<std::pair<std::string, std::int64_t>> told_kinds;  ///< how many there were of each kind
  std::vector<std::string> relaxed;  ///< conventions of the contract that are not docs/semantics.md
  std::vector<curve_point> curves;
  std::vector<std::string> waived_classes;
  std::string undecided_because;  ///< where the verdict is undecided
  std::int64_t cases = 0;
  double kernel_seconds = 0, oracle_seconds = 0;

  judgement total() const;
};

/// Collects judgements into a report. Used by audit, verify and merge.
class report_builder {
 public:
  report_builder(report& into, std::set<std::string, std::less<>> const& waived) : report_(into), waived_(waived) {}

  check_result& check_named(std::string_view name);
  /// From here on everything belongs to this case.
  void at(std::int64_t number) { number_ = number; }
  /// Adds what was judged of one case. `default_class` names findings that know no better.
  void add(check_result& row, std::string const& case_name, bug_class default_class, problem::sizes const& sizes,
           judgement&& judged, std::string const& reproducer);
  void add_finding(check_result& row, std::string const& case_name, problem::sizes const& sizes, violation&& what,
                   std::string const& reproducer);
  /// Keeps a finding, unless its check has enough of them.
  void keep(finding&& found);
  /// A sentence; after the third of one kind the rest is counted.
  void observe(std::string const& kind, std::string sentence);
  /// What is said of the `count` − 3 that are not.
  static std::string more_like_these(std::string_view kind, std::int64_t count);
  /// Is there a finding that refutes?
  bool refuted() const;
  /// Sorts findings and sets the verdict. `complete` is false where a mandatory case went unanswered; then `because`.
  void finish(bool complete, std::string because);

 private:
  /// Findings kept per check; the rest is counted.
  static constexpr std::int64_t kept_per_check = 8;
  static constexpr std::int64_t told_per_kind = 3;
  report& report_;
  std::set<std::string, std::less<>> const& waived_;
  std::int64_t number_ = 0;
};

}  // namespace attest::audit
