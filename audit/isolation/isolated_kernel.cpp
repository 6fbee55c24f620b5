#include <csignal>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "audit/isolation/isolated_kernel_state.hpp"
#include "audit/isolation/library_fault.hpp"
#include "audit/isolation/missing_protections.hpp"
#include "audit/isolation/reply_report.hpp"
#include "audit/support/locate.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

namespace fs = std::filesystem;
using problem::error;
using problem::error_code;
using problem::result;

call_report not_asked(std::string reason) {
  call_report report;
  report.outcome = call_outcome::not_asked;
  report.sentence = "not asked: " + std::move(reason);
  return report;
}

}  // namespace

result<isolated_kernel> isolated_kernel::open(fs::path const& library, std::string symbol, isolation_limits limits,
                                              fs::path runner) {
  return open(kernel_library{.path = library, .symbol = std::move(symbol)}, limits, std::move(runner));
}

result<isolated_kernel> isolated_kernel::open(kernel_library const& kernel, isolation_limits limits, fs::path runner) {
  if (auto why = kernel.is_process() ? std::nullopt : library_fault(kernel.path)) return *std::move(why);
  if (kernel.is_process() && limits.all_protections)
    return error{error_code::unsupported, printable(kernel.path.native(), 400),
                 "runs in the process that asked for this audit, which no protection isolates"};
  if (runner.empty() && !kernel.is_process()) {
    auto located = locate_runner();
    if (!located) return std::move(located).why();
    runner = std::move(located).value();
  }
  auto opened = std::make_unique<state>();
  std::error_code code;
  opened->kernel = kernel;
  // A bare name would be looked up in the library path.
  if (!kernel.is_process()) opened->kernel.path = fs::absolute(kernel.path, code);
  if (code) return error{error_code::unreadable, printable(kernel.path.native(), 400), code.message()};
  opened->runner = std::move(runner);
  opened->limits = limits;
  // A program may be an interpreter, which loads libraries of its own before the kernel.
  if (kernel.is_program()) opened->limits.loading_seconds *= 6;
  if (auto why = opened->start()) return *std::move(why);
  return isolated_kernel(std::move(opened));
}

static_assert(isolated_kernel::most_together == runner::most_together, "the runner takes groups of this size");

/// The promises that the process broke since its last call. It is killed for them.
std::vector<broken_promise> isolated_kernel::state::broken_between_calls() {
  if (!process.alive()) return {};
  std::vector<broken_promise> broken;
  if (last && last->changed_since(memory.get()))
    broken.push_back({promise::rests_between_calls, "", "writes to the tensors of a call after it had returned"});
  if (!process.has_unread_input()) return broken;
  // The runner is killed when the thread that spawned it ends (PR_SET_PDEATHSIG), so SIGKILL is not blamed on the
  // kernel.
  runner::reply_message unexpected{};
  auto const received = process.receive(std::as_writable_bytes(std::span(&unexpected, 1)), in(limits.seconds));
  auto const end = received == runner_process::received::closed ? process.end() : process.kill();
  if (end.kind == process_end::signalled && end.code == SIGKILL) return broken;
  broken.push_back({promise::rests_between_calls, "",
                    received == runner_process::received::closed
                        ? words(end) + " after it had returned"
                        : "wrote to the runner's channel after it had returned"});
  return broken;
}

result<call_report> isolated_kernel::run(owned_problem const& problem, call_request const& request,
                                         owned_outputs& outputs) {
  call_of_group const alone{&problem, request};
  auto answers = run_together(std::span(&alone, 1));
  if (!answers) return answers.why();
  call_answer& only = answers.value().front();
  if (only.report.outcome == call_outcome::succeeded) outputs = std::move(only.outputs);
  return std::move(only.report);
}

result<std::vector<call_answer>> isolated_kernel::run_together(std::span<call_of_group const> calls,
                                                               double more_seconds) {
  auto& self = *state_;
  std::vector<call_memory> plans;
  for (call_of_group const& call : calls) {
    auto plan = call_memory::plan(*call.problem, call.request, self.limits,
                                  plans.empty() ? memory_origin{} : plans.back().end());
    if (!plan && plan.why().code == error_code::unsupported)
      return std::vector<call_answer>(calls.size(), {not_asked(plan.why().reason), {}});
    if (!plan) return plan.why();
    plans.push_back(std::move(plan).value());
    plans.back().set_group(static_cast<std::uint32_t>(calls.size() - plans.size()), call);
  }
  auto const earlier = self.broken_between_calls();
  self.last.reset();
  if (!self.process.alive()) {
    if (auto const why = self.start()) {
      call_report report;
      report.outcome = call_outcome::unanswered;
      report.sentence = "was not called: its library, which was loaded before, " + why->reason;
      return std::vector<call_answer>(calls.size(), {report, {}});
    }
  }
  auto answers = self.call(plans, calls.front().request, self.limits.seconds + more_seconds);
  if (answers) {
    auto& broken = answers.value().front().report.broken;
    broken.insert(broken.begin(), earlier.begin(), earlier.end());
    if (plans.size() == 1) self.last = std::move(plans.front());
  }
  return answers;
}

/// Waits for the reply to a call that was sent at `sent`, and observes the process from outside meanwhile.
runner_process::received isolated_kernel::state::wait(std::span<std::byte> reply, call_request const& request,
                                                      double seconds, runner_process::clock::time_point sent) {
  exceeded.reset();
  cut_short = false;
  passed = time_watch::passed::nothing;
  auto const begin = runner_process::clock::now();
  std::optional<time_watch> watch;  // created at the first observation: most calls end before it
  for (;;) {
    auto next = runner_process::clock::now() + observation_interval;
    if (request.until) next = std::min(next, *request.until);
    auto const received = process.receive(reply, next);
    if (received == runner_process::received::message && !kernel.is_process()) {
      // One short call cannot pass a limit, many together can. On a busy machine a long call may have ended before this
      // thread began to wait for it.
      auto const now = runner_process::clock::now();
      if (now - sent >= short_call || now - observed >= observation_interval)
        exceeded = passes_limits(process.id(), limits.process, tensor_bytes), observed = now;
    }
    if (received != runner_process::received::timed_out) return received;
    if (kernel.is_process()) {
      cut_short = is_over(request);
      if (cut_short) return received;
      if (runner_process::clock::now() - begin < std::chrono::duration<double>(limits.waiting_seconds)) continue;
      passed = time_watch::passed::waiting;
      passed_words = fmt::format("did not return within {:g} s", limits.waiting_seconds);
      return received;
    }
    if (!watch) watch.emplace(process.id(), times(seconds));
    cut_short = is_over(request);
    if (cut_short) return received;
    auto const tree = process_tree(process.id());
    exceeded = tree_passes_limits(tree, limits.process, tensor_bytes);
    passed = watch->observe(tree);
    if (passed != time_watch::passed::nothing) passed_words = watch->words(passed);
    if (exceeded || passed != time_watch::passed::nothing) return received;
  }
}

/// Kills the process; the next call starts a new one.
call_report isolated_kernel::state::kill_for(call_outcome outcome, std::string sentence) {
  process.kill();
  call_report report;
  report.outcome = outcome;
  report.sentence = std::move(sentence);
  return report;
}

result<std::vector<call_answer>> isolated_kernel::state::call(std::span<call_memory> plans, call_request const& request,
                                                              double seconds) {
  auto const all = [&](call_report const& report) {
    return std::vector<call_answer>(plans.size(), call_answer{report, {}});
  };
  std::uint64_t bytes = 0;
  for (call_memory& plan : plans) {
    if (auto why = plan.fill(memory.get())) return *std::move(why);
    bytes += plan.tensor_bytes();
    plan.set_sequence(++sequence);
  }
  tensor_bytes = std::max(tensor_bytes, bytes);
  std::uint64_t const first = sequence - plans.size() + 1;
  auto const begin = runner_process::clock::now();
  bool sent = true;
  for (call_memory const& plan : plans) sent = sent && process.send(plan.message());
  std::vector<runner::reply_message> replies(plans.size());
  for (std::size_t at = 0; at < replies.size(); ++at) {
    runner::reply_message& reply = replies[at];
    auto received = runner_process::received::closed;
    if (sent) received = wait(std::as_writable_bytes(std::span(&reply, 1)), request, seconds, begin);
    if (cut_short) return all(kill_for(call_outcome::cut_short, "was cut short"));
    if (exceeded) return all(kill_for(call_outcome::exceeded, "was ended: its process " + *exceeded));
    bool const known = reply.magic == runner::reply_magic || reply.magic == runner::no_memory_magic ||
                       reply.magic == runner::no_range_magic || reply.magic == runner::no_thread_magic;
    if (received == runner_process::received::message && (!known || reply.sequence != first + at))
      received = runner_process::received::malformed;
    if (received != runner_process::received::message) return all(without_reply(plans, first, received));
  }
  if (kernel.is_process() && replies[0].magic != runner::reply_magic)
    return all(kill_for(call_outcome::unanswered,
                        "was not called: its process has no room for the tensors, or no "
                        "further thread"));
  // These replies come from the kernel's side: none of them excuses it.
  if (replies[0].magic == runner::no_range_magic || replies[0].magic == runner::no_memory_magic)
    return all(kill_for(call_outcome::exceeded,
                        fmt::format("leaves no room in its process for the tensors of a call: {:.3g} GiB of addresses",
                                    static_cast<double>(plans.back().range_bytes()) / 0x1p30)));
  if (replies[0].magic == runner::no_thread_magic)
    return all(kill_for(call_outcome::unanswered, "was not called: the system does not start another thread"));
  double const waited = std::chrono::duration<double>(runner_process::clock::now() - begin).count();
  std::vector<call_answer> answers;
  for (std::size_t at = 0; at < plans.size(); ++at) {
    auto answered = answer(plans[at], replies[at], waited);
    if (!answered) return answered.why();
    answers.push_back(std::move(answered).value());
  }
  return answers;
}

/// The answer that a reply and the memory of its call give.
result<call_answer> isolated_kernel::state::answer(call_memory& plan, runner::reply_message const& reply,
                                                   double waited) {
  call_answer answered;
  call_report& report = answered.report = report_of(reply, waited);
  // A process that writes late does so more than once: after the first calls, one in sixteen is enough.
  bool const remember = sequence <= 64 || sequence % 16 == 0;
  if (auto why = plan.read_back(memory.get(), report.outcome, answered.outputs, report.broken, remember))
    return *std::move(why);
  return answered;
}

/// Whether a process ended as its code wanted: by exit(), or by assert() in the words of the C libraries. Memory that
/// is spoilt ends a process, too: by SIGABRT in other words, by an assertion of malloc, or by exit() of a sanitizer.
static bool ends_on_purpose(process_end const& end, std::string_view said) {
  auto const says = [said](std::string_view words) { return said.find(words) != said.npos; };
  if (says("malloc") || says("Sanitizer")) return false;
  if (end.kind == process_end::exited) return end.code != 0;
  return end.kind == process_end::signalled && end.code == SIGABRT && says("ssertion ") && says("failed");
}

/// The report of calls that ended without a valid reply. The next call starts a new process.
call_report isolated_kernel::state::without_reply(std::span<call_memory const> plans, std::uint64_t first,
                                                  runner_process::received received) {
  call_report report;
  if (received == runner_process::received::timed_out)
    return kill_for(passed == time_watch::passed::waiting ? call_outcome::unanswered : call_outcome::hung,
                    passed_words);
  auto const end = received == runner_process::received::closed ? process.end() : process.kill();
  report.outcome = end.kind == process_end::exited      ? call_outcome::exited
                   : end.kind == process_end::signalled ? call_outcome::crashed
                                                        : call_outcome::unknown_status;
  report.code = end.code;
  rlimit limit{};
  bool const limited = ::getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_max != RLIM_INFINITY;
  if (limited && end.kind == process_end::signalled && (end.code == SIGXCPU || end.code == SIGKILL)) {
    report.outcome = call_outcome::unanswered;
    report.sentence = fmt::format("was ended with {}: its process may have {} s of processor time (ulimit -t)",
                                  signal_text(end.code), limit.rlim_max);
    return report;
  }
  report.sentence = received == runner_process::received::closed ? words(end) : "wrote to the runner's channel";
  if (received == runner_process::received::closed) {
    std::string const said = process.said();
    report.sentence += said;
    report.refusal_marked = ends_on_purpose(end, said);
  }
  if (report.outcome != call_outcome::crashed) return report;
  for (call_memory const& plan : plans)
    if (auto broken = plan.explain_crash(memory.get(), first)) {
      report.sentence += ": " + broken->sentence;
      report.broken.push_back(*std::move(broken));
      break;
    }
  return report;
}

std::string const& isolated_kernel::name() const noexcept { return state_->name; }
std::vector<std::string> isolated_kernel::missing_protections() const {
  if (state_->kernel.is_process())
    return {"every protection (the kernel runs in the process that asked for the audit)"};
  return audit::missing_protections(state_->process.faults());
}
bool isolated_kernel::loading_changes_environment() const noexcept { return state_->environment_changed; }

isolated_kernel::isolated_kernel(std::unique_ptr<state> started) noexcept : state_(std::move(started)) {}
isolated_kernel::isolated_kernel(isolated_kernel&&) noexcept = default;
isolated_kernel& isolated_kernel::operator=(isolated_kernel&&) noexcept = default;
isolated_kernel::~isolated_kernel() = default;

}  // namespace attest::audit
