// The result of an audit as data: the table of checks, the findings, the verdict.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/cause/cause.hpp"
#include "audit/contract/contract.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/report/coverage/coverage.hpp"
#include "audit/report/pictures.hpp"
#include "problem/checks.hpp"
#include "reference/bound/revision.hpp"

namespace attest::audit {

/// The values are the exit statuses of the program.
enum class verdict : std::uint8_t { certified = 0, refuted = 1, undecided = 3 };

/// The axes of the parts of a merge, whose problem has hq·n heads of one query (audit/tensors/merge_form.hpp). At the
/// end, a finding is restated in the axes of the parts (in_rows_of_parts).
struct rows_of_parts {
  std::int64_t hq = 0, n = 0;  ///< 0: no merge, or restated already
};

/// A small problem that still shows a finding.
struct shrunk_finding {
  violation what = {};
  problem::sizes sizes{};
  std::string file = {};                   ///< the safetensors file that holds it; empty if none was written
  std::vector<input_listing> inputs = {};  ///< the tensors, if they have few elements
  rows_of_parts merged = {};               ///< of a merge
  bool whole = false;                      ///< no smaller one was found: these are the calls as they were asked
  std::string explain = {};                ///< the command that shows the row of its element; empty if there is none
  std::string parameters = {};             ///< parameters_words
};

/// A violation in a report, with what is needed to reproduce it.
struct finding {
  violation what;
  std::string check, case_name;
  problem::sizes sizes{};
  std::string reproducer;  ///< a command line
  bool waived = false;
  std::int64_t number = 0;  ///< number of its case among all cases of the audit, from 1
  std::optional<shrunk_finding> shrunk = {};
  std::optional<finding_pictures> pictures = {};
  std::string no_pictures = {};  ///< why there are none, if there are none
  std::string condition = {};    ///< where the kernel is wrong (find_condition); empty if not known
  rows_of_parts merged = {};     ///< of a merge
  std::string parameters = {};   ///< parameters_words of its call
  judged_class judged = {};      ///< its class before name_classes

  /// CHECK/CASE; of a recorded call its name, once.
  std::string name() const { return check == case_name ? check : check + "/" + case_name; }
  std::string_view class_token() const noexcept { return what.bug_class ? token_of(*what.bug_class) : ""; }
  problem::sizes const& smallest_sizes() const noexcept { return shrunk ? shrunk->sizes : sizes; }
  std::string const& smallest_parameters() const noexcept { return shrunk ? shrunk->parameters : parameters; }
};

/// The share of an output that may lie outside the hypotheses of the bound, unless --outside sets another.
inline constexpr double allowed_outside = 0.01;

/// One row of the table of checks.
struct check_result {
  std::string name;
  std::int64_t cases = 0, failed = 0, undecided = 0, unsupported = 0;
  judgement sum;                           ///< over all its cases
  std::set<std::string> conventions = {};  ///< relaxed conventions that mattered in one of its cases
  std::int64_t first_case = 0;             ///< the number of its first case
  double seconds = 0;                      ///< spent in the kernel and in judging
};

/// The kind of notes about findings that could not be saved, or not be listed.
inline constexpr char const* kind_not_saved = "not saved";
/// The kinds of notes about findings that a baseline knows, and about parts of a file that were not read.
inline constexpr char const *kind_baseline = "baseline", *kind_ignored = "ignored";
/// The kind of the note about plain calls inside a declared domain that the kernel refused.
inline constexpr char const* kind_refused = "refused";
/// The kind of the note about a fixed part that the slowness of the kernel cut.
inline constexpr char const* kind_slow = "slow";

/// A note for the reader; it never changes the verdict.
struct observation {
  observation() = default;
  observation(std::string said, std::string kind_of = {})  // NOLINT(google-explicit-constructor): about the run itself
      : sentence(std::move(said)), kind(std::move(kind_of)) {}

  std::string sentence;
  std::string kind = {};    ///< at most report_builder::listed_per_kind of a kind are listed, the others counted
  std::int64_t number = 0;  ///< of its case; 0: about the run itself
};

/// A point of a stability curve.
struct curve_point {
  std::string axis;            ///< "score range", "keys", "head dimension", "value offset"
  double place = 0;            ///< on that axis
  double error_in_bounds = 0;  ///< the worst of the case
  bool failed = false;
  std::int64_t number = 0;  ///< of its case
};

/// A case with a fault, which need not have a finding of its own.
struct failing_case {
  std::string check, name;
  std::int64_t number = 0;                ///< of the case
  std::vector<std::string> classes = {};  ///< classes of its worst violations, in alphabetical order
  /// If it was judged again: the wider presets under which nothing of it is wrong, narrowest first. Presets that an
  /// earlier failing case was outside of are left out.
  std::optional<std::vector<holding_preset>> inside = {};
  std::set<judged_class> judged = {};  ///< `classes` before name_classes
};

/// How the calls of a recorded file ended, if its metadata say it (PREFIX.attest.status).
struct recorded_endings {
  std::int64_t calls = 0, answered = 0;  ///< all calls of the file; calls with an output
  std::int64_t errors = 0, killed = 0, hung = 0, unsupported = 0;
  std::int64_t silent = 0;                            ///< calls with neither an output nor a status
  std::int64_t unusable = 0;                          ///< calls with an output of a wrong shape or type
  std::map<std::string, std::int64_t> refusals = {};  ///< unsupported calls, by the kernel's text
};

/// Something that an audit did not ask of the kernel, or for which it got no answer.
struct omission {
  std::string what, why;
  friend bool operator==(omission const&, omission const&) = default;
};

/// Identifies one build of a kernel: the file of its library and its symbol. The built-in kernel is identified by its
/// version, the instruction set and the claim. Libraries that the kernel's library loads are not part of it.
struct kernel_build {
  std::string sha256 = {};  ///< of the library's file; empty for the built-in kernel, and if the file cannot be read
  std::string symbol = {};  ///< of its function
  std::string version = {}, instructions = {};  ///< of the built-in kernel; empty for others
  std::string claim = {};                       ///< the SHA-256 of its declared model for a call with all sizes 1

  bool is_builtin() const noexcept { return !version.empty(); }
  bool is_known() const noexcept { return is_builtin() || !sha256.empty(); }
  /// "attest_attention of a library with SHA-256 0123456789abcdef…"; "built in, attest 0.3.0, avx2, claim 0123…".
  std::string words() const;
  friend bool operator==(kernel_build const&, kernel_build const&) = default;
};

/// How the domain of the kernel became known.
enum class domain_origin : std::uint8_t {
  nobody,  ///< it was neither searched for nor declared: the outputs were recorded, or the calls come from a file
  found,
  declared,
};
inline constexpr char const* domain_origin_names[]{"nobody", "found", "declared"};

/// The domain inside which the calls of an audit were made.
struct asked_domain {
  std::string text{};  ///< call_domain::text(); empty for everything
  domain_origin from = domain_origin::nobody;
  bool strict_refusals = false;  ///< an error outside is a finding, too
  bool cut_short = false;        ///< the search for it was: the kernel may take more
};

struct report {
  std::string kernel, contract;
  std::vector<kernel_build>
      kernel_builds;                       ///< one; several if `merge` took them for one kernel; none: recorded outputs
  std::vector<audit::contract> contracts;  ///< all numbers of the named contract; several if `verify` chose them
  std::optional<int> contract_revision;    ///< of its numbers; none for a contract file
  int theorem_revision = reference::theorem_revision;  ///< of docs/bound.md, by which the elements were judged
  std::optional<std::uint64_t> seed;                   ///< none if nothing was generated
  std::string replayed;                                ///< the SHA-256 of the file of --replay; empty without one
  std::optional<std::pair<std::int64_t, std::int64_t>> shard;  ///< index and number of shards
  asked_domain domain;
  std::string options;             ///< options that determine the cases and their judgement; the same in every shard
  std::int64_t all_cases = 0;      ///< of all shards together
  std::int64_t all_draws = 0;      ///< how many of them are draws
  std::string refusal;             ///< of a kernel that refuses every call: the sentence that says so
  std::string incomplete_because;  ///< why the fixed part was not asked to its end; empty if `unanswered` says it
  std::vector<std::pair<std::int64_t, std::string>>
      unanswered;  ///< inputs that must be answered and were not: number, name
  audit::verdict verdict = audit::verdict::undecided;
  std::vector<check_result> checks;
  /// First the findings of inputs that the cause does not explain, then the other refuting ones, then the waived ones.
  std::vector<finding> findings;
  std::vector<failing_case> failing;         ///< in the order of the cases; at most kept_failing
  std::optional<named_cause> cause;          ///< of the failing cases; none if it was not searched for
  std::set<std::string> plain_wrong;         ///< checks with a plain call that is answered wrongly
  std::optional<recorded_endings> recorded;  ///< none if a kernel was called
  std::vector<observation> observations;
  std::vector<std::pair<std::string, std::int64_t>> observation_counts;  ///< how many there were of each kind
  std::vector<omission> not_asked;               ///< what the options left out; the checks say what the kernel refused
  std::vector<std::string> protections;          ///< how the kernel was kept apart; empty if none ran
  std::vector<std::string> missing_protections;  ///< protections that the system forbids, and why
  std::vector<std::string> relaxed;              ///< conventions of the contract that differ from docs/semantics.md
  std::vector<curve_point> curves;
  std::vector<std::string> waived;  ///< checks or CHECK/CASE of --waive
  std::string undecided_because;    ///< why, if the verdict is undecided
  std::int64_t cases = 0;
  std::int64_t draws = 0;                  ///< how many of them are numbered draws, after the fixed part
  std::int64_t draw_products = 0;          ///< the multiplications that a large call may have; 0 if no shape was asked
  coverage covered;                        ///< by the calls of the kernel; empty if no calls were counted
  double outside_limit = allowed_outside;  ///< by --outside: a larger share of an output makes the verdict undecided
  std::vector<std::string> required_support;  ///< by --require-support; if it is missing the verdict is undecided
  double kernel_seconds = 0, oracle_seconds = 0;

  static constexpr std::size_t kept_failing = 10'000;

  /// Over all checks.
  judgement total() const;
  /// Was everything asked that must be, and did every call return?
  bool complete() const { return unanswered.empty() && incomplete_because.empty(); }
};

/// Refuted before undecided before certified. Requires at least one report.
verdict worst(std::span<report const> all);

/// Do the words of --waive name this check, or this case of it?
bool is_waived(std::ranges::range auto const& words, std::string const& check, std::string const& case_name) {
  return std::ranges::any_of(words,
                             [&](std::string const& word) { return word == check || word == check + "/" + case_name; });
}

}  // namespace attest::audit
