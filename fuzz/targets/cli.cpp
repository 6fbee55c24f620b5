// Command lines: the program's own parser hands each command what is sound, or refuses with a sentence.
//
// Lines of text → the arguments of one `attest` command → the program's own parser, in this process. The actions of
// commands (running kernels, reading and writing files) are replaced: here a command only checks the values that the
// parser hands it.
#include <algorithm>
#include <string>
#include <vector>

#include "audit/asking/capabilities.hpp"
#include "audit/oracle/explain.hpp"
#include "audit/oracle/reference.hpp"
#include "audit/oracle/solve.hpp"
#include "audit/oracle/write_vectors.hpp"
#include "audit/program/run.hpp"
#include "audit/session/run_audit.hpp"
#include "audit/session/run_gen.hpp"
#include "audit/session/run_verify.hpp"
#include "audit/support/files.hpp"
#include "audit/support/output_file.hpp"
#include "audit/zoo/selftest.hpp"
#include "fuzz/support/require.hpp"

namespace attest::audit {

using fuzz::require;

namespace {

problem::error not_here() { return {problem::error_code::unreadable, "", "this is a fuzz target"}; }

/// The words of the command line behind the program's name.
std::vector<std::string> words_now;

/// The words that a command gets are not empty, except a word that saves no findings.
void no_word_is_empty() {
  for (std::size_t n = 0; n < words_now.size(); ++n)
    require(!words_now[n].empty() || (n > 0 && words_now[n - 1] == "--findings"), "no word is empty");
}

/// A command without positional arguments has taken no word behind --.
void no_word_is_dropped() {
  no_word_is_empty();
  auto const mark = std::ranges::find(words_now, "--");
  require(mark == words_now.end() || mark + 1 == words_now.end(), "no word behind -- is dropped");
}

/// A class decides no verdict, so that only a check of the same name may be waived.
bool has_no_class(names const& waived) {
  return std::ranges::all_of(waived, [](auto const& name) { return !bug_class_named(name) || find_check(name); });
}

}  // namespace

// What every command may rely on.

problem::result<report> run_audit(audit_options const& options) {
  no_word_is_dropped();
  require(options.claim != nullptr && find_contract(options.claim->name) != nullptr);  // no file can be read here
  require(options.jobs >= 1 && options.jobs <= 64);
  require(!options.budget || (*options.budget >= 0.1 && *options.budget <= 1e6));
  require(!options.part || (options.part->index >= 1 && options.part->index <= options.part->of));
  require(has_no_class(options.waived) && options.on_progress && options.stop != nullptr);
  return not_here();
}

problem::result<report> run_verify(verify_options const& options) {
  no_word_is_empty();
  require(!options.claim || find_contract(options.claim->name) != nullptr);
  require(has_no_class(options.waived));
  return not_here();
}

problem::result<kernel_capabilities> capabilities_of(kernel_library const&, contract const& claim,
                                                     isolation_limits const&) {
  no_word_is_empty();
  require(find_contract(claim.name) != nullptr);
  return not_here();
}

problem::result<generated_file> run_gen(gen_options const& options) {
  no_word_is_dropped();
  audit_options const& cases = options.cases;
  require(cases.claim != nullptr && find_contract(cases.claim->name) != nullptr);  // no file can be read here
  return not_here();
}

problem::result<std::string> run_explain(explain_options const& options) {
  no_word_is_empty();
  require(!options.claim || find_contract(options.claim->name) != nullptr);
  return not_here();
}

problem::result<solution> run_solve(solve_options const& options) {
  no_word_is_empty();
  require(!(options.digits && options.round));
  return not_here();
}

problem::result<referenced> run_reference(reference_options const& options) {
  no_word_is_empty();
  require(!options.claim || find_contract(options.claim->name) != nullptr);             // no file can be read here
  require(!options.round || problem::row_of(*options.round).format.exponent_bits > 0);  // a floating type
  return not_here();
}

problem::result<selftest_report> run_selftest(selftest_options const& options) {
  no_word_is_dropped();
  require(options.jobs >= 0 && options.jobs <= 256);
  return not_here();
}

std::string as_text(selftest_report const&) { return ""; }
verdict selftest_report::verdict() const { return audit::verdict::undecided; }

std::optional<problem::error> write_vectors(std::filesystem::path const&) {
  no_word_is_dropped();
  return not_here();
}
std::optional<problem::error> write_file(std::filesystem::path const&, std::span<std::byte const>) {
  return not_here();
}
std::string name_of_input(std::filesystem::path const& path) { return path.string(); }
bool can_be_read_again(std::filesystem::path const&) { return false; }

// Every output can be opened, and none is written.
problem::result<output_file> output_file::open(std::string const& path) {
  require(!path.empty());
  return output_file(path, {});
}
std::optional<problem::error> output_file::write(std::span<std::byte const>) const { return not_here(); }
std::filesystem::path output_file::temporary() const { return {}; }
problem::result<file_bytes> read_file(std::filesystem::path const&) { return not_here(); }

}  // namespace attest::audit

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::vector<std::string> words{"attest"};
  for (std::size_t at = 0; at < size && words.size() < 40;) {
    auto const end = std::find(data + at, data + size, std::uint8_t{'\n'});
    std::string word(data + at, end);
    if (std::size_t const zero = word.find('\0'); zero != word.npos) word.resize(zero);  // as the system would
    words.push_back(std::move(word));
    at = static_cast<std::size_t>(end - data) + 1;
  }
  attest::audit::words_now.assign(words.begin() + 1, words.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int const status = attest::audit::run(static_cast<int>(words.size()), arguments.data());
  attest::fuzz::require(status >= 0 && status <= 3, "the exit status is a documented one");
  return 0;
}
