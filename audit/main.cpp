// The program `attest`. Exit status: 0 certified, 1 refuted, 2 bad usage or unreadable input, 3 undecided.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/audit.hpp"
#include "audit/files.hpp"
#include "audit/report.hpp"
#include "audit/selftest.hpp"
#include "audit/solve.hpp"

namespace attest::audit {
namespace {

constexpr int usage = 2;

int complain(std::string const& message) {
  fmt::print(stderr, "attest: {}\n", message);
  return usage;
}

/// A seed that nobody chose; the report prints it.
std::uint64_t hidden_seed() {
  std::random_device device;
  return device() % 1'000'000'000u;
}

/// Set by the first Ctrl-C: the audit ends with the report so far. The second ends the program.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

void listen_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

/// "2/5" as part 2 of 5; nothing where it is none.
std::optional<shard> parse_shard(std::string const& text) {
  shard made;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld/%ld%c", &made.index, &made.of, &rest) != 2) return std::nullopt;
  if (made.index < 1 || made.of > 1'000'000 || made.index > made.of) return std::nullopt;
  return made;
}

/// One line on a terminal's standard error: what runs now, and the time left.
class progress_line {
 public:
  void operator()(std::int64_t done, std::int64_t all, std::string const& next) {
    if (!shown_) return;
    double const spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (done == all) {
      fmt::print(stderr, "\r\033[K");
      return;
    }
    std::string left = done > 5 ? fmt::format(", {:.0f} s left", spent / static_cast<double>(done) * static_cast<double>(all - done)) : "";
    fmt::print(stderr, "\r\033[K[{}/{}] {}{}", done, all, next, left);
    std::fflush(stderr);
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) != 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Options that all judging commands share.
struct judging {
  std::string contract;
  std::string json;
  std::vector<std::string> waived;

  void add_to(CLI::App& command) {
    command.add_option("--contract", contract, "what the kernel claims; see `attest list contracts`");
    command.add_option("--json", json, "write the report as JSON to FILE, - for standard output")->type_name("FILE");
    command.add_option("--waive", waived, "list findings of these classes without refuting")->delimiter(',')->type_name("CLASS,…");
  }
  /// Nothing where everything is known.
  std::optional<std::string> fault() const {
    for (std::string const& name : waived)
      if (std::ranges::find(bug_classes(), name) == bug_classes().end())
        return fmt::format("--waive: no class is called '{}'; see `attest list classes`", name);
    if (!contract.empty() && !find_contract(contract))
      return fmt::format("--contract: no contract is called '{}'; see `attest list contracts`", contract);
    return std::nullopt;
  }
  int answer(problem::result<report> const& made) const {
    if (!made) return complain(made.why().message());
    report const& what = made.value();
    if (json != "-") fmt::print("{}", as_text(what));
    if (!json.empty()) {
      std::string const text = as_json(what);
      if (json == "-") fmt::print("{}", text);
      else if (auto why = write_file(json, std::as_bytes(std::span(text)))) return complain("--json: " + why->message());
    }
    return static_cast<int>(what.answer);
  }
};

int list(std::string const& what, bool json) {
  struct line { std::string name, sentence; };
  std::vector<line> lines;
  if (what == "kernels") {
    lines = {{"builtin", "attest's own blocked kernel (libattest_kernel)"},
             {"PATH[:SYMBOL]", "a shared library with the interface of attest/kernel.h"}};
  } else if (what == "contracts") {
    for (contract const& each : contracts()) lines.push_back({each.name, each.sentence});
  } else if (what == "checks") {
    for (check const& each : checks())
      lines.push_back({std::string(each.name), fmt::format("{} [{}]; not: {}", each.proves, each.bug_class, each.cannot)});
  } else if (what == "cases") {
    auto const real = real_data_cases();
    if (!real) return complain(real.why().message());
    for (audit_case const& each : real.value()) lines.push_back({each.full_name(), ""});
    for (audit_case const& each : generated_cases({})) lines.push_back({each.full_name(), ""});
  } else {
    for (std::string_view const each : bug_classes()) lines.push_back({std::string(each), ""});
  }
  if (json) {
    auto made = nlohmann::ordered_json::array();
    for (line const& each : lines) made.push_back({{"name", each.name}, {"sentence", each.sentence}});
    fmt::print("{}\n", made.dump(2));
    return 0;
  }
  std::size_t width = 0;
  if (what != "cases")
    for (line const& each : lines) width = std::max(width, each.name.size());
  for (line const& each : lines)
    each.sentence.empty() ? fmt::print("{}\n", each.name) : fmt::print("{:<{}}  {}\n", each.name, width, each.sentence);
  return 0;
}

int solve(solve_options const& options, std::string const& out) {
  if (options.digits.has_value() == !out.empty())
    return complain("solve: give either --out FILE (with or without --round), or --digits N");
  auto const solved = run_solve(options);
  if (!solved) return complain(solved.why().message());
  solution const& what = solved.value();
  if (options.digits) fmt::print("{}", what.text);
  else if (auto why = write_file(out, what.file)) return complain("--out: " + why->message());
  if (options.round && what.rounded.elements > 0)
    fmt::print(stderr, "attest: {} of {} rounded elements ({:.3g} %) needed the exact tier\n", what.rounded.exactly,
               what.rounded.elements,
               100 * static_cast<double>(what.rounded.exactly) / static_cast<double>(what.rounded.elements));
  if (what.undecided == 0) return 0;
  fmt::print(stderr, "attest: {} of {} elements stayed undecided\n", what.undecided, what.elements);
  return static_cast<int>(verdict::undecided);
}

/// The options that override a file's metadata.
void add_overrides(CLI::App& command, flag_overrides& flags) {
  struct flag { char const* name; std::optional<std::string>* value; };
  for (auto const& [name, value] : {flag{"--scale", &flags.scale}, flag{"--softcap", &flags.softcap},
                                    flag{"--diagonal", &flags.diagonal}, flag{"--left", &flags.left},
                                    flag{"--right", &flags.right}})
    command.add_option(name, *value, "overrides the file's metadata")->type_name("X");
}

int run(int argc, char** argv) {
  CLI::App app{"attest: attention kernels, judged against certified truth"};
  app.set_version_flag("--version", fmt::format("attest {}", version));
  app.require_subcommand(1);
  app.footer("Exit status: 0 certified, 1 refuted, 2 bad usage or unreadable input, 3 undecided.");

  judging judged;
  audit_options audit;
  std::vector<std::string> only;
  std::optional<std::uint64_t> seed;
  CLI::App& audit_command = *app.add_subcommand("audit", "run a kernel on adversarial inputs and judge every element");
  audit_command.footer("Example: attest audit --kernel ./libmine.so --contract f32 --json report.json");
  audit_command.add_option("--kernel", audit.kernel, "builtin, or PATH[:SYMBOL] of a shared library")->capture_default_str();
  audit_command.add_option("--seed", seed, "for the generated cases; drawn where it is not given");
  audit_command.add_option("--only", only, "these checks or CHECK/CASE names")->delimiter(',')->type_name("NAME,…");
  audit_command.add_flag("--quick", audit.quick, "fewer and smaller cases");
  audit_command.add_flag("--fail-fast", audit.fail_fast, "stop at the first refuting finding");
  audit_command.add_flag("--reproducible", audit.reproducible, "answers may not depend on threads, batch position or company");
  audit_command.add_option("--jobs", audit.jobs, "kernels asked at the same time")->check(CLI::Range(1, 64))->capture_default_str();
  audit_command.add_option("--budget", audit.budget, "end after so many seconds")->check(CLI::Range(0.1, 1e6))->type_name("SECONDS");
  audit_command.add_option("--replay", audit.replay, "ask the problems of this file instead of generated ones")->type_name("FILE");
  audit_command.add_option("--findings", audit.findings, "folder for the shrunk inputs of findings")->capture_default_str();
  std::string part;
  audit_command.add_option("--shard", part, "ask the i-th of n parts of the cases; needs --seed")->type_name("i/n");

  audit_options generated;
  std::optional<std::uint64_t> gen_seed;
  std::string gen_out, gen_contract = "f32";
  CLI::App& gen_command = *app.add_subcommand("gen", "write the audit's inputs, for a kernel that runs elsewhere");
  gen_command.footer("Example: attest gen --out cases.safetensors, run your kernel, then\n"
                     "         attest verify cases.safetensors outputs.safetensors");
  gen_command.add_option("--out", gen_out, "the file to write")->required()->type_name("FILE");
  gen_command.add_option("--seed", gen_seed, "for the generated cases; drawn where it is not given");
  gen_command.add_option("--contract", gen_contract, "whose element type the inputs have")->capture_default_str();
  gen_command.add_flag("--quick", generated.quick, "fewer and smaller cases");
  judged.add_to(audit_command);

  verify_options verify;
  CLI::App& verify_command = *app.add_subcommand("verify", "judge recorded outputs in safetensors files");
  verify_command.footer("Example: attest verify dump.safetensors --contract f32\n"
                        "Tensors q k v o (mask bias lse weights), with prefixes such as layer0. for several problems.");
  std::string inputs, outputs;
  verify_command.add_option("inputs", inputs, "file with q k v, and perhaps o")->required()->type_name("INPUTS");
  verify_command.add_option("outputs", outputs, "file with o lse weights")->type_name("OUTPUTS");
  add_overrides(verify_command, verify.flags);
  judged.add_to(verify_command);

  solve_options solved;
  std::string solve_out, solve_round;
  CLI::App& solve_command = *app.add_subcommand("solve", "certified or correctly rounded answers");
  solve_command.footer("Example: attest solve in.safetensors --out out.safetensors --round f32\n"
                       "Without --round: o.lower, o.upper, … as outward-rounded f64.");
  solve_command.add_option("inputs", solved.inputs, "file with q k v")->required()->type_name("INPUTS");
  solve_command.add_option("--out", solve_out, "the file to write")->type_name("FILE");
  solve_command.add_option("--round", solve_round, "f16, bf16, f32 or f64: correctly rounded")->check(CLI::IsMember({"f16", "bf16", "f32", "f64"}));
  solve_command.add_option("--digits", solved.digits, "print so many certified significant digits")
      ->check(CLI::Range(1, largest_digits))->excludes("--round");
  add_overrides(solve_command, solved.flags);

  selftest_options self;
  CLI::App& selftest_command = *app.add_subcommand("selftest", "the audit against kernels with known defects, and honest ones");
  selftest_command.footer("Example: attest selftest --jobs 2");
  selftest_command.add_option("--jobs", self.jobs, "kernels at a time; 0: one a processor")->check(CLI::Range(0, 256));
  selftest_command.add_option("--seed", self.seed, "for the generated cases")->capture_default_str();
  selftest_command.add_option("--only", self.only, "these kernels of the zoo")->delimiter(',')->type_name("NAME,…");

  std::string listed;
  bool list_json = false;
  CLI::App& list_command = *app.add_subcommand("list", "what there is");
  list_command.footer("Example: attest list contracts");
  list_command.add_option("what", listed, "kernels, contracts, checks, cases or classes")->required()
      ->check(CLI::IsMember({"kernels", "contracts", "checks", "cases", "classes"}));
  list_command.add_flag("--json", list_json, "as JSON");

  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e, std::cout, std::cerr) == 0 ? 0 : usage;
  }
  if (list_command.parsed()) return list(listed, list_json);
  if (selftest_command.parsed()) {
    self.tell = [line = progress_line{}](auto done, auto all) mutable { line(done, all, "kernels"); };
    auto const tested = run_selftest(self);
    if (!tested) return complain(tested.why().message());
    fmt::print("{}", as_text(tested.value()));
    return tested.value().passed() ? 0 : 1;
  }
  if (solve_command.parsed()) {
    for (auto const type : {problem::element_type::f16, problem::element_type::bf16, problem::element_type::f32, problem::element_type::f64})
      if (solve_round == problem::name_of(type)) solved.round = type;
    return solve(solved, solve_out);
  }
  if (gen_command.parsed()) {
    generated.claim = find_contract(gen_contract);
    if (!generated.claim) return complain(fmt::format("--contract: no contract is called '{}'; see `attest list contracts`", gen_contract));
    generated.seed = gen_seed ? *gen_seed : hidden_seed();
    auto const bytes = run_gen(generated);
    if (!bytes) return complain(bytes.why().message());
    if (auto why = write_file(gen_out, bytes.value())) return complain("--out: " + why->message());
    return 0;
  }
  if (auto why = judged.fault()) return complain(*why);
  std::set<std::string, std::less<>> const waived(judged.waived.begin(), judged.waived.end());
  if (verify_command.parsed()) {
    verify.inputs = inputs;
    if (!outputs.empty()) verify.outputs = outputs;
    verify.claim = judged.contract.empty() ? nullptr : find_contract(judged.contract);
    verify.waived = waived;
    return judged.answer(run_verify(verify));
  }
  audit.claim = find_contract(judged.contract.empty() ? "f32" : judged.contract);
  audit.contract_argument = audit.claim->name;
  audit.seed = seed ? *seed : hidden_seed();
  audit.only = {only.begin(), only.end()};
  audit.waived = waived;
  audit.tell = progress_line{};
  if (!part.empty()) {
    audit.part = parse_shard(part);
    if (!audit.part) return complain("--shard: '" + part + "' is not i/n with 1 <= i <= n");
    if (!seed) return complain("--shard: needs --seed, so that all parts ask the same inputs");
  }
  listen_for_interrupts();
  audit.stop = &interrupted;
  return judged.answer(run_audit(audit));
}

}  // namespace
}  // namespace attest::audit

int main(int argc, char** argv) {
  try {
    return attest::audit::run(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "attest: internal error: %s\n", e.what());
    return attest::audit::usage;
  }
}
