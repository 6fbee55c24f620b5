#include "audit/session/run_audit.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "audit/builtin/kernel_spec.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/judge/conventions.hpp"
#include "audit/report/builder.hpp"
#include "audit/session/protections.hpp"
#include "audit/session/run_case.hpp"
#include "audit/session/save_findings.hpp"
#include "audit/session/select.hpp"
#include "audit/session/take_result.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

clock::duration seconds(double count) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(count));
}

/// Runs cases by several kernels at once. Cases start in their order, and their results are taken in that order.
class pool {
 public:
  pool(std::vector<audit_case> const& cases, audit_options const& options, interruption const& when)
      : cases_(cases), options_(options), when_(when), results_(cases.size()) {}
  ~pool() { close(); }

  /// Opens the kernels. An error is that of the first kernel that does not open.
  std::optional<problem::error> start() {
    int const jobs =
        static_cast<int>(std::clamp<std::size_t>(cases_.size(), 1, static_cast<std::size_t>(options_.jobs)));
    for (int n = 0; n < jobs; ++n) workers_.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return opened_ == jobs; });
    return fault_;
  }

  /// Waits for the result of case `at`; nothing where the case was not run.
  std::optional<problem::result<case_result>> wait(std::size_t at) {
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return results_[at].has_value() || (closed_ && at >= started_) || finished_ == workers_.size(); });
    return std::move(results_[at]);
  }

  void close() {
    {
      std::scoped_lock const lock(mutex_);
      closed_ = true;
    }
    for (std::thread& worker : workers_)
      if (worker.joinable()) worker.join();
  }

  /// Sets the time after which nothing is run or judged.
  void end_by(clock::time_point when) { end_ = when; }

  std::string name() const { return name_; }
  bool loading_changes_environment() const { return loading_changes_environment_; }

 private:
  bool enough() const { return when_.requested() || clock::now() >= end_.load(); }

  /// Runs cases on a kernel of its own: a kernel ends with the thread that opened it.
  void work() {
    auto kernel = open_kernel(options_.kernel, options_.claim->type, when_, limits_of(options_));
    {
      std::scoped_lock const lock(mutex_);
      ++opened_;
      if (kernel) {
        name_ = kernel.value().kernel().name();
        loading_changes_environment_ = kernel.value().kernel().loading_changes_environment();
      } else if (!fault_) {
        fault_ = kernel.why();
      }
    }
    changed_.notify_all();
    while (kernel) {
      std::size_t at = 0;
      {
        std::scoped_lock const lock(mutex_);
        if (closed_ || fault_ || started_ == cases_.size() || enough()) break;
        at = started_++;
      }
      problem::result<case_result> outcome = case_result{};
      bool const cut = interruptible(
          [this] { return enough(); },
          [&] { outcome = run_case(cases_[at], kernel.value(), {options_.claim, options_.reproducible}); });
      if (outcome) outcome.value().cut_short |= cut;
      std::scoped_lock const lock(mutex_);
      results_[at] = std::move(outcome);
      changed_.notify_all();
    }
    std::scoped_lock const lock(mutex_);
    ++finished_;
    changed_.notify_all();
  }

  std::vector<audit_case> const& cases_;
  audit_options const& options_;
  interruption when_;
  std::atomic<clock::time_point> end_ = clock::time_point::max();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<problem::result<case_result>>> results_;
  std::vector<std::thread> workers_;
  std::size_t started_ = 0, finished_ = 0;
  int opened_ = 0;
  bool closed_ = false;
  std::optional<problem::error> fault_;
  std::string name_;
  bool loading_changes_environment_ = false;
};

/// The options that determine the cases and their judgement, beside kernel, contract and seed; the same in every shard.
std::string text_of(audit_options const& options) {
  std::string text = fmt::format("--only {}{}{}", fmt::join(options.only, ","), options.quick ? " --quick" : "",
                                 options.reproducible ? " --reproducible" : "");
  if (!options.waived.empty()) text += fmt::format(" --waive {}", fmt::join(options.waived, ","));
  if (options.replay) text += fmt::format(" --replay {}", options.replay->native());
  return text;
}

/// One audit: a kernel, its cases, and the report so far.
class session {
 public:
  session(audit_options const& options, std::vector<audit_case> const& cases, report& into)
      : options_(options),
        cases_(cases),
        report_(into),
        collect_(into, options.waived),
        when_{options.stop,
              options.budget ? std::optional(options.begun + seconds(0.9 * *options.budget)) : std::nullopt},
        pool_(cases, options, when_) {}

  std::optional<problem::error> run();

 private:
  void take(audit_case const& kernel_case, case_result&& result);
  void judge_recording(audit_case const& kernel_case);
  std::string why_stopped() const;
  std::string reproducer(audit_case const& kernel_case) const;

  audit_options const& options_;
  std::vector<audit_case> const& cases_;
  report& report_;
  report_builder collect_;
  interruption when_;
  pool pool_;
  bool mandatory_missing_ = false, hurried_ = false;
  int hung_ = 0;
};

std::string session::reproducer(audit_case const& kernel_case) const {
  std::string text = fmt::format("attest audit --kernel {} --contract {}", shell_word(options_.kernel),
                                 shell_word(options_.contract_argument));
  if (options_.replay)
    text += fmt::format(" --replay {} --only {}", shell_word(options_.replay->native()),
                        shell_word(kernel_case.full_name()));
  else
    text += fmt::format(" --seed {} --only {}{}", options_.seed, shell_word(kernel_case.full_name()),
                        options_.quick ? " --quick" : "");
  return text + (options_.reproducible ? " --reproducible" : "");
}

void session::judge_recording(audit_case const& kernel_case) {
  if (kernel_case.recorded_by.empty()) return;
  contract const& claim = default_contract(kernel_case.problem.type());
  judgement const found = judge(kernel_case.problem.instance(), kernel_case.recorded, claim);
  collect_.add_observation(
      kernel_case.full_name(),
      found.failed > 0
          ? fmt::format("{}: {} of {} elements of the answer by {} are outside the bound of {}",
                        kernel_case.full_name(), found.failed, found.judged(), kernel_case.recorded_by, claim.name)
          : fmt::format("{}: all {} elements of the answer by {} are within {:.4f} of the bound of {}",
                        kernel_case.full_name(), found.judged(), kernel_case.recorded_by, found.max_error_in_bounds,
                        claim.name));
}

void session::take(audit_case const& kernel_case, case_result&& result) {
  if (kernel_case.mandatory && (result.unsupported || result.judged.judged() == 0)) mandatory_missing_ = true;
  hung_ += result.hung;
  collect_.set_case(kernel_case.number);
  judge_recording(kernel_case);
  take_result(kernel_case, kernel_case.number, std::move(result), reproducer(kernel_case), report_, collect_);
}

std::string session::why_stopped() const {
  if (options_.stop && options_.stop->load()) return "interrupted";
  if (hung_ >= 2) return "the kernel hung twice";
  if (options_.fail_fast && collect_.refuted()) return "--fail-fast";
  if (hurried_) return "--quick has found enough";
  if (when_.requested()) return fmt::format("the budget of {:g} s", *options_.budget);
  return "";
}

std::optional<problem::error> session::run() {
  if (auto why = pool_.start()) return why;
  report_.kernel = pool_.name();
  report_.relaxed = relaxed(options_.claim->conventions);
  report_.protections = protections_of(limits_of(options_));
  if (pool_.loading_changes_environment())
    report_.observations.push_back(
        "loading the kernel changed the rounding mode or FTZ/DAZ of its process (-ffast-math does)");
  std::size_t done = 0;
  std::string stopped;
  for (; done < cases_.size() && stopped.empty(); ++done) {
    options_.on_progress(static_cast<std::int64_t>(done), static_cast<std::int64_t>(cases_.size()),
                         cases_[done].full_name());
    auto result = pool_.wait(done);
    if (!result) break;
    if (!*result) return result->why();
    if (result->value().cut_short && result->value().judged.failed == 0) break;
    take(cases_[done], std::move(result->value()));
    if (options_.quick && !hurried_ && collect_.refuted()) {
      hurried_ = true;  // the verdict is known: what is left of ten seconds is for other checks and for the findings
      pool_.end_by(options_.begun + seconds(7));
    }
    if (hung_ >= 2 || (options_.fail_fast && collect_.refuted())) stopped = why_stopped();
  }
  pool_.close();
  options_.on_progress(static_cast<std::int64_t>(cases_.size()), static_cast<std::int64_t>(cases_.size()), "");
  std::string because = "a mandatory case was not answered";
  if (done < cases_.size()) {
    if (stopped.empty()) stopped = why_stopped();
    report_.observations.push_back(fmt::format("stopped after {} of {} cases: {}", done, cases_.size(), stopped));
    report_.not_asked.push_back({fmt::format("{} of {} inputs", cases_.size() - done, cases_.size()), stopped});
    // An audit that its budget ended is complete if every check had a case; chosen_cases orders them for that.
    bool const every_check =
        std::ranges::all_of(cases_.begin() + static_cast<std::ptrdiff_t>(done), cases_.end(), [&](audit_case const& c) {
          return !c.mandatory &&
                 std::ranges::find(report_.checks, c.check, &check_result::name) != report_.checks.end();
        });
    if (!(stopped.starts_with("the budget") && every_check)) {
      mandatory_missing_ = true;
      because = "the audit stopped early";
    }
  }
  collect_.finish(!mandatory_missing_, because);
  if (!options_.findings.empty() && collect_.refuted() && !(options_.stop && options_.stop->load())) {
    auto until =
        options_.quick ? std::min(clock::now() + seconds(2), options_.begun + seconds(9)) : clock::now() + seconds(15);
    // The rest of the budget is for the work under way and for writing the report.
    if (options_.budget) until = std::min(until, options_.begun + seconds(0.95 * *options_.budget));
    save_findings(options_, cases_, until, report_);
  }
  for (finding& found : report_.findings)
    if (!found.pictures && found.no_pictures.empty())
      found.no_pictures = options_.findings.empty() ? "--findings '' asks for none" : "the audit was interrupted";
  return std::nullopt;
}

}  // namespace

problem::result<report> run_audit(audit_options const& options) {
  auto const cases = chosen_cases(options);
  if (!cases) return cases.why();
  return run_audit(options, cases.value());
}

problem::result<report> run_audit(audit_options const& options, std::vector<audit_case> const& cases) {
  report kernel_report;
  kernel_report.contract = options.claim->name;
  kernel_report.contract_revision = revision_of(*options.claim);
  if (!options.only.empty()) kernel_report.not_asked.push_back({"other checks and cases", "--only"});
  if (options.quick) kernel_report.not_asked.push_back({"larger inputs, and further ones of each check", "--quick"});
  if (options.replay) kernel_report.not_asked.push_back({"every check, on generated inputs", "--replay"});
  if (!options.replay) kernel_report.seed = options.seed;
  if (options.part) kernel_report.shard = {options.part->index, options.part->of};
  kernel_report.options = text_of(options);
  kernel_report.all_cases = static_cast<std::int64_t>(cases.size());
  if (options.part && !cases.empty()) kernel_report.all_cases = cases.front().all;
  session running(options, cases, kernel_report);
  if (auto why = running.run()) return *std::move(why);
  return kernel_report;
}

}  // namespace attest::audit
