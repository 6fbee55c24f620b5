#include "audit/isolation/isolated_kernel.hpp"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/isolation/call_memory.hpp"
#include "audit/isolation/library_fault.hpp"
#include "audit/isolation/missing_protections.hpp"
#include "audit/isolation/reply_report.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "audit/isolation/runner_process.hpp"
#include "audit/support/descriptor.hpp"
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

/// The text in a fixed-size field of a message; a terminating 0 may be missing.
template <std::size_t N>
std::string bounded(char const (&text)[N]) {
  return {text, ::strnlen(text, N)};
}

}  // namespace

struct isolated_kernel::state {
  fs::path library, runner;
  std::string symbol;
  isolation_limits limits;
  owned_descriptor memory;
  runner_process process;
  std::string name;
  bool environment_changed = false;
  std::uint64_t sequence = 0;
  std::optional<std::string> exceeded;           ///< the limit that ended the last wait, if one did
  std::uint64_t tensor_bytes = 0;                ///< the most that a call of this process could touch
  runner_process::clock::time_point observed{};  ///< when the process was last observed
  std::optional<call_memory> last;               ///< the memory of the last call, if it was not one of a group
  bool cut_short = false;                        ///< the caller ended the last wait
  time_watch::passed passed{};                   ///< the limit of time that ended the last wait, if one did
  std::string passed_words;

  static runner_process::clock::time_point in(double seconds) {
    return runner_process::clock::now() +
           std::chrono::duration_cast<runner_process::clock::duration>(std::chrono::duration<double>(seconds));
  }
  /// The interval at which the process is observed from outside while it works.
  static constexpr auto observation_interval = std::chrono::milliseconds(50);
  /// In less time, no kernel takes gigabytes of memory or starts hundreds of threads.
  static constexpr auto short_call = std::chrono::milliseconds(1);

  std::optional<error> start();
  runner_process::received greeting(std::span<std::byte> hello);
  std::vector<broken_promise> broken_between_calls();
  time_limits times(double working) const { return {working, limits.resting_seconds, limits.waiting_seconds}; }
  result<std::vector<call_answer>> call(std::span<call_memory> plans, call_request const& request, double seconds);
  runner_process::received wait(std::span<std::byte> reply, call_request const& request, double seconds);
  result<call_answer> answer(call_memory& plan, runner::reply_message const& reply, double waited);
  call_report kill_for(call_outcome outcome, std::string sentence);
  call_report without_reply(std::span<call_memory const> plans, std::uint64_t first, runner_process::received received);
};

/// Waits for the greeting, until the time for loading has passed.
runner_process::received isolated_kernel::state::greeting(std::span<std::byte> hello) {
  time_watch watch(process.id(), times(limits.loading_seconds));
  for (;;) {
    auto const received = process.receive(hello, runner_process::clock::now() + observation_interval);
    if (received != runner_process::received::timed_out) return received;
    passed = watch.observe(process_tree(process.id()));
    if (passed != time_watch::passed::nothing) return received;
  }
}

/// Starts a process and waits for its greeting.
std::optional<error> isolated_kernel::state::start() {
  auto const fault = [&](error_code code, std::string reason) {
    return error{code, printable(library.native(), 400), std::move(reason)};
  };
  auto shared = call_memory::shared();
  if (!shared) return std::move(shared).why();
  memory = std::move(shared).value();
  auto started = runner_process::start(runner, library, symbol, memory.get(), limits.needs);
  if (!started) return std::move(started).why();
  process = std::move(started).value();

  runner::hello_message hello{};
  using enum runner_process::received;
  constexpr double cage_seconds = 60;  // no code of the kernel runs meanwhile: it takes milliseconds, or is broken
  auto received = process.wait_for_cage(in(cage_seconds));
  if (received == message && process.start_fault() != 0) {
    process.kill();
    return error{error_code::unreadable, "attest-runner",
                 "cannot start a process for the kernel: " + system_reason(process.start_fault())};
  }
  if (received == message) {
    // Half of it is the kernel's own.
    limits.address_bytes = std::min(limits.address_bytes, process.address_bytes() / 2);
    auto const missing = audit::missing_protections(process.faults());
    if (limits.all_protections && !missing.empty()) {
      process.kill();
      return fault(error_code::unsupported,
                   fmt::format("is not loaded: the system forbids {}", fmt::join(missing, ", ")));
    }
    runner::load_message const load{runner::load_magic};
    process.send(std::as_bytes(std::span(&load, 1)));
    received = greeting(std::as_writable_bytes(std::span(&hello, 1)));
  }
  switch (received) {
    case message: break;
    case timed_out:
      process.kill();
      return fault(error_code::unreadable,
                   passed == time_watch::passed::working
                       ? fmt::format("does not finish loading within {} s of processor time", limits.loading_seconds)
                   : passed == time_watch::passed::resting
                       ? fmt::format("does not finish loading, and uses no processor for {} s", limits.resting_seconds)
                       : fmt::format("does not finish loading within {} s", limits.waiting_seconds));
    case closed: {
      auto const end = process.end();
      return fault(error_code::unreadable, words(end) + " while it was loaded" + process.said());
    }
    case malformed: process.kill(); return fault(error_code::unreadable, "broke its channel while it was loaded");
  }
  auto text = printable(bounded(hello.text), 200);
  if (hello.magic != runner::hello_magic || hello.state > runner::greeting::no_runner_memory) {
    process.kill();
    return fault(error_code::unreadable, "broke its channel while it was loaded");
  }
  if (hello.state == runner::greeting::ready) {
    name = text.empty() ? printable(library.filename().native()) : text;
    environment_changed = hello.environment_changed != 0;
    return std::nullopt;
  }
  process.kill();
  if (hello.state == runner::greeting::no_symbol)
    return fault(error_code::missing, fmt::format("does not export '{}'", printable(symbol)));
  if (hello.state == runner::greeting::no_runner_memory)
    return error{error_code::unreadable, "attest-runner", "has no memory: " + text};
  if (auto const path = printable(library.native(), 200) + ": "; text.starts_with(path)) text.erase(0, path.size());
  return fault(error_code::unreadable, "is not a shared library that can be loaded: " + text);
}

result<isolated_kernel> isolated_kernel::open(fs::path const& library, std::string symbol, isolation_limits limits,
                                              fs::path runner) {
  if (auto why = library_fault(library)) return *std::move(why);
  if (runner.empty()) {
    auto located = locate_runner();
    if (!located) return std::move(located).why();
    runner = std::move(located).value();
  }
  auto opened = std::make_unique<state>();
  std::error_code code;
  opened->library = fs::absolute(library, code);  // a bare name would be looked up in the library path
  if (code) return error{error_code::unreadable, printable(library.native(), 400), code.message()};
  opened->runner = std::move(runner);
  opened->symbol = std::move(symbol);
  opened->limits = limits;
  if (auto why = opened->start()) return *std::move(why);
  return isolated_kernel(std::move(opened));
}

static_assert(isolated_kernel::most_together == runner::most_together, "the runner takes groups of this size");

/// What the process did since its last call that it may not do. It is killed for it.
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

/// Waits for a reply and observes the process from outside meanwhile.
runner_process::received isolated_kernel::state::wait(std::span<std::byte> reply, call_request const& request,
                                                      double seconds) {
  exceeded.reset();
  cut_short = false;
  passed = time_watch::passed::nothing;
  auto const begin = runner_process::clock::now();
  std::optional<time_watch> watch;  // created at the first observation: most calls end before it
  for (;;) {
    auto next = runner_process::clock::now() + observation_interval;
    if (request.until) next = std::min(next, *request.until);
    auto const received = process.receive(reply, next);
    if (received == runner_process::received::message) {
      // A short call cannot pass a limit by itself, many together can.
      auto const now = runner_process::clock::now();
      if (now - begin >= short_call || now - observed >= observation_interval)
        exceeded = passes_limits(process.id(), limits.process, tensor_bytes), observed = now;
    }
    if (received != runner_process::received::timed_out) return received;
    if (!watch) watch.emplace(process.id(), times(seconds));
    cut_short =
        (request.stop && request.stop->load()) || (request.until && runner_process::clock::now() >= *request.until);
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
    if (sent) received = wait(std::as_writable_bytes(std::span(&reply, 1)), request, seconds);
    if (cut_short) return all(kill_for(call_outcome::cut_short, "was cut short"));
    if (exceeded) return all(kill_for(call_outcome::exceeded, "was ended: its process " + *exceeded));
    bool const known = reply.magic == runner::reply_magic || reply.magic == runner::no_memory_magic ||
                       reply.magic == runner::no_range_magic || reply.magic == runner::no_thread_magic;
    if (received == runner_process::received::message && (!known || reply.sequence != first + at))
      received = runner_process::received::malformed;
    if (received != runner_process::received::message) return all(without_reply(plans, first, received));
  }
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

/// What a reply and the memory of its call say.
result<call_answer> isolated_kernel::state::answer(call_memory& plan, runner::reply_message const& reply,
                                                   double waited) {
  call_answer answered;
  call_report& report = answered.report = report_of(reply, waited);
  // A process that writes late does so more than once: later, one call in sixteen is enough.
  bool const remember = sequence <= 64 || sequence % 16 == 0;
  if (auto why = plan.read_back(memory.get(), report.outcome, answered.outputs, report.broken, remember))
    return *std::move(why);
  return answered;
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
  if (received == runner_process::received::closed) report.sentence += process.said();
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
  return audit::missing_protections(state_->process.faults());
}
bool isolated_kernel::loading_changes_environment() const noexcept { return state_->environment_changed; }

isolated_kernel::isolated_kernel(std::unique_ptr<state> started) noexcept : state_(std::move(started)) {}
isolated_kernel::isolated_kernel(isolated_kernel&&) noexcept = default;
isolated_kernel& isolated_kernel::operator=(isolated_kernel&&) noexcept = default;
isolated_kernel::~isolated_kernel() = default;

}  // namespace attest::audit
