// The program `attest` as its users run it: exit codes, what it says, what it writes.
#include <map>
#include <thread>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_test {
namespace {

/// A quick audit of all checks, whose draws and production shapes are small.
std::string const few_draws = " --quick --draws 20 --draw-products 65536";
/// The checks whose questions are about numbers, and not about memory, layouts or large sizes.
std::string const about_numbers =
    " --only worked-examples,accuracy,scale,large-scores,value-range,subnormals,softcap,bias,masks,empty-rows,bands,"
    "heads,tails,sharp,every-key,long-sums,far-blocks,stability,drawn";

void certifies_the_builtin_kernel(std::string const& how) {
  outcome const ran = attest("audit --seed 7" + how);
  CHECK(ran.status == 0);
  CHECK(has(ran.out, "CERTIFIED"));
  CHECK(has(ran.out, "seed 7"));
  CHECK(has(ran.out, "Nothing is claimed for other inputs"));
  CHECK(has(ran.out, "real-data"));
  CHECK(ran.err.empty());
}

TEST_CASE("the built-in kernel is certified on the built-in cases", "[unit]") {
  certifies_the_builtin_kernel(few_draws);
}

TEST_CASE("honest kernels are certified in all checks, the built-in one on larger cases, too", "[slow]") {
  certifies_the_builtin_kernel(" --draws 20 --draw-products 1048576");
  CHECK(attest("audit" + few_draws + " --seed 1" + kernel("naive")).status == 0);
}

void keeps_sharper_claims(std::string const& checks) {
  // And f32-blocked, on each instruction set: below.
  for (std::string const contract : {"f64", "f64-blocked", "f32-any"}) {
    outcome const ran = attest("audit" + few_draws + checks + " --seed 1 --contract " + contract);
    INFO(contract << ran.out);
    CHECK(ran.status == 0);
  }
}

TEST_CASE("the built-in kernel keeps its own sharper claims", "[slow]") {
  keeps_sharper_claims(" --only worked-examples,accuracy,drawn");
}

TEST_CASE("the built-in kernel keeps its own sharper claims in all checks of numbers", "[slow]") {
  keeps_sharper_claims(about_numbers);
}

TEST_CASE("an honest plug-in of another design is certified", "[unit]") {
  CHECK(attest("audit" + few_draws + " --only worked-examples,masks,drawn --seed 1" + kernel("naive")).status == 0);
  outcome const noisy =
      attest("audit" + few_draws + " --only worked-examples,masks,drawn --seed 1 --json -" + kernel("noisy"));
  CHECK(noisy.status == 0);
  CHECK(nlohmann::json::parse(noisy.out)["verdict"] == "certified");  // its chatter is not in our output
}

TEST_CASE("broken plug-ins are refuted, and the finding names what is wrong", "[unit]") {
  struct broken {
    char const* name;
    char const* only;
    char const* bug_class;
    char const* says;
  };
  auto const [name, only, bug_class, says] =
      GENERATE(broken{"mean_v", "worked-examples/e11.1", "weak-test", "it equals the mean of the visible rows of V"},
               broken{"ignores_mask", "masks/random-full", "mask-polarity", "the key is masked"},
               broken{"nan_empty_row", "empty-rows/every-row", "empty-row", "no key is visible to this query"},
               broken{"crash", "worked-examples/e11.1", "crash", "crashed with SIGSEGV"},
               broken{"exits", "worked-examples/e11.1", "crash", "exited with code 0"},
               broken{"changes_rounding", "worked-examples/e11.1", "fast-math", "floating-point environment"},
               broken{"scales_q", "worked-examples/e11.1", "memory", "writes into the input q"},
               broken{"writes_past", "worked-examples/e11.1", "memory", "writes element 0 past the end of o"},
               broken{"reads_past_k", "worked-examples/e11.1", "memory", "reads element 0 past the end of k"},
               broken{"forgets_last_row", "worked-examples/e11.1", "memory", "o"},
               broken{"ignores_strides", "strides/gap1", "memory", "strides"});
  outcome const ran = attest(std::string("audit --seed 1 --json - --only ") + only + kernel(name));
  INFO(name << '\n' << ran.out.substr(0, 2000) << ran.err);
  CHECK(ran.status == 1);
  auto const report = nlohmann::json::parse(ran.out);
  CHECK(report["verdict"] == "refuted");
  if (std::string_view(name) == "mean_v") CHECK(report["cause"]["hypotheses"][0]["name"] == "weights-equal-in-o");
  bool named = false;
  for (auto const& finding : report["findings"])
    named = named || (finding["class"] == bug_class && has(finding.dump(), says));
  CHECK(named);
}

TEST_CASE("a kernel that hangs is stopped, found and named, and its input is saved", "[slow]") {
  outcome const ran = attest("audit --quick --only worked-examples/identity --seed 1 --json -" + kernel("spins"));
  CHECK(ran.status == 1);
  auto const found = nlohmann::json::parse(ran.out)["findings"][0];
  CHECK(found["class"] == "hang");
  CHECK(has(found["sentence"], "did not return within 10 s of processor time"));
  CHECK(found["no_pictures"] == "the kernel hung");
  std::string const file = found["file"];
  REQUIRE_FALSE(file.empty());
  CHECK(attest("audit --quick --replay " + file + kernel("spins")).status == 1);
  CHECK(attest("audit --replay " + file).status == 0);  // the built-in kernel answers it
}

TEST_CASE("the built-in kernel runs on each of this machine's instruction sets, and says on which", "[unit]") {
  std::string const listed = attest("list kernels").out;
  CHECK(has(listed, "builtin:scalar"));
  struct set {
    char const* word;
    char const* name;
  };  // plain code is SCALAR or EMU128
  auto const report_of = [](std::string const& word) {
    return nlohmann::json::parse(attest("audit" + few_draws +
                                        " --only worked-examples,accuracy,drawn --seed 3 --contract f32-blocked "
                                        "--json - --kernel builtin" +
                                        word)
                                     .out);
  };
  auto const answers = [](nlohmann::json report) {
    for (char const* key : {"oracle_seconds", "kernel_seconds"}) report["summary"].erase(key);
    for (char const* key : {"kernel", "kernel_builds"}) report.erase(key);
    return report;
  };
  std::map<std::string, nlohmann::json> reports;
  for (auto const& [word, name] :
       {set{"avx512", "attest fast (AVX3)"}, set{"avx2", "attest fast (AVX2)"}, set{"scalar", ""}}) {
    if (!has(listed, std::string("builtin:") + word)) continue;
    auto const report = report_of(std::string(":") + word);
    INFO(word);
    CHECK(report["verdict"] == "certified");
    CHECK(report["kernel_builds"][0]["builtin"]["instructions"] == word);
    CHECK((report["kernel"] == name ||
           (word == std::string("scalar") &&
            (report["kernel"] == "attest fast (SCALAR)" || report["kernel"] == "attest fast (EMU128)"))));
    reports[word] = answers(report);
  }
  // Plain code has no fused multiply-add: it rounds more often. AVX2 and AVX-512 answer alike, bit for bit.
  for (auto const& [word, report] : reports) CHECK((report == reports["scalar"]) == (word == "scalar"));
  if (reports.contains("avx2") && reports.contains("avx512")) CHECK(reports["avx2"] == reports["avx512"]);
  CHECK(answers(report_of("")) == (reports.contains("avx2") ? reports["avx2"] : reports["scalar"]));
  outcome const unknown = attest("audit --kernel builtin:avx1");
  CHECK(unknown.status == 2);
  CHECK(has(unknown.err, "no built-in kernel for 'avx1', did you mean 'avx"));
  CHECK(has(unknown.err, "builtin:scalar"));
}

TEST_CASE("without --seed every run asks other inputs, and names its seed", "[unit]") {
  auto const first = nlohmann::json::parse(attest("audit --quick --only accuracy --json -").out);
  auto const second = nlohmann::json::parse(attest("audit --quick --only accuracy --json -").out);
  CHECK(first["seed"] != second["seed"]);
  CHECK(first["summary"]["max_ulp"] != second["summary"]["max_ulp"]);
}

TEST_CASE("what is not a kernel is a usage error with a sentence", "[unit]") {
  outcome const directory = attest("audit --kernel /");
  CHECK(directory.status == 2);
  CHECK(has(directory.err, "is a directory"));
  outcome const text = attest("audit --kernel " ATTEST_TEST_DATA "/../program/cli_test.cpp");
  CHECK(text.status == 2);
  CHECK(has(text.err, "not a shared"));
  outcome const absent = attest("audit --kernel ./absent.so");
  CHECK(absent.status == 2);
  CHECK(has(absent.err, "no such file"));
  outcome const symbol = attest("audit" + kernel("no_symbol"));
  CHECK(symbol.status == 2);
  CHECK(has(symbol.err, "does not export 'attest_attention'"));
}

TEST_CASE("unknown words are usage errors that name them", "[unit]") {
  for (std::string const arguments :
       {"", "audti", "audit --contract f33", "audit --quick --waive everything", "audit --quick --only nothing",
        "audit --seed x", "audit --no-such-flag", "verify", "list", "list things", "audit --kernel builtin:gpu"}) {
    outcome const ran = attest(arguments);
    INFO("attest " << arguments);
    CHECK(ran.status == 2);
    CHECK_FALSE(ran.err.empty());
    CHECK(ran.out.empty());
  }
}

TEST_CASE("help and version answer on standard output with status 0", "[unit]") {
  for (std::string const arguments : {"--help", "audit --help", "verify --help", "list --help"}) {
    outcome const ran = attest(arguments);
    CHECK(ran.status == 0);
    CHECK(has(ran.out, "attest"));
  }
  CHECK(has(attest("--version").out, "attest 0."));
}

TEST_CASE("a JSON report has the documented keys, and waived checks do not refute", "[unit]") {
  auto const report = nlohmann::json::parse(
      attest("audit --seed 3 --only empty-rows --json - --waive empty-rows" + kernel("nan_empty_row")).out);
  for (char const* key : {"attest", "kernel", "contract", "seed", "verdict", "schema", "summary", "checks", "findings",
                          "contract_revision", "theorem_revision", "evidence", "failing", "unanswered"})
    CHECK(report.contains(key));
  for (char const* key : {"cases", "elements", "unsupported", "suspicious", "observations", "waived", "undecided",
                          "not_judged", "judged_by_theorem", "judged_by_dominance", "max_error_in_bounds", "max_ulp",
                          "oracle_seconds", "kernel_seconds"})
    CHECK(report["summary"].contains(key));
  for (char const* key : {"verdict", "cause", "contract", "contract_revision", "theorem_revision", "inputs", "judged",
                          "not_judged", "sizes", "sharper_presets", "not_asked", "sampling", "protections",
                          "missing_protections", "waived", "sentence"})
    CHECK(report["evidence"].contains(key));
  CHECK(report["evidence"]["verdict"] == report["verdict"]);
  CHECK(report["evidence"]["protections"].size() == 5);
  CHECK(report["evidence"]["missing_protections"].is_array());
  CHECK(report["evidence"]["not_asked"][0]["why"] == "--only");
  for (char const* key : {"name", "cases", "failed", "undecided", "unsupported", "conventions", "not_judged_because",
                          "returned", "sharper_presets"})
    CHECK(report["checks"][0].contains(key));
  REQUIRE_FALSE(report["findings"].empty());
  for (char const* key : {"check", "class", "case", "index", "got", "truth_lower", "truth_upper", "bound",
                          "error_in_bounds", "waived", "shrunk", "reproducer"})
    CHECK(report["findings"][0].contains(key));
  for (char const* key : {"b", "hq", "hk", "n", "m", "d", "dv"}) CHECK(report["findings"][0]["shrunk"].contains(key));
  CHECK(report["schema"] == 1);
  CHECK(report["findings"][0]["waived"] == true);
  CHECK(report["verdict"] != "refuted");
}

TEST_CASE("the built-in kernel's own claims include that an answer does not depend on its company", "[slow]") {
  std::string const command = "audit --quick --seed 1 --only determinism --json - " + kernel("nudges_alone");
  auto const plain = nlohmann::json::parse(attest(command).out);
  CHECK(plain["verdict"] == "certified");
  CHECK(has(plain["observations"].dump(), "query 5 alone"));
  for (std::string const more : {" --reproducible", " --contract f32-blocked"}) {
    auto const strict = nlohmann::json::parse(attest(command + more).out);
    INFO(more);
    CHECK(strict["verdict"] == "refuted");
    CHECK(strict["findings"][0]["class"] == "nondeterminism");
    CHECK(has(strict["findings"][0]["sentence"], "query 5 alone"));
  }
}

TEST_CASE("an audit takes its minute by default, and asks draws until then", "[nightly]") {
  auto const start = std::chrono::steady_clock::now();
  auto const ran = attest("audit --json -");
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(ran.status == 0);
  CHECK(seconds > 50);
  CHECK(ran.processor_seconds < 75 * std::thread::hardware_concurrency());
  CHECK(nlohmann::json::parse(ran.out)["coverage"]["draws"]["made"] > 0);
}

TEST_CASE("a seed decides every input: the same report twice", "[unit]") {
  auto const report = [] {
    auto parsed =
        nlohmann::json::parse(attest("audit" + few_draws + " --only accuracy,masks,drawn --seed 11 --json -").out);
    parsed["summary"].erase("oracle_seconds");
    parsed["summary"].erase("kernel_seconds");
    return parsed.dump();
  };
  CHECK(report() == report());
}

}  // namespace
}  // namespace attest::tests::cli_test
