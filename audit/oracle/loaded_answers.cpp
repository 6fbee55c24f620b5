// run_solve, run_reference and run_explain of the program, which has them in a library that it loads.
#include "audit/oracle/answers_module.hpp"
#include "audit/support/locate.hpp"
#include "audit/support/module.hpp"

namespace attest::audit {
namespace {

problem::result<answering> loaded() {
  auto const library = locate_answers();
  if (!library) return library.why();
  auto const functions = symbol_of(library.value(), "attest_answering");
  if (!functions) return functions.why();
  return *reinterpret_cast<decltype(&attest_answering)>(functions.value())();
}

}  // namespace

problem::result<solution> run_solve(solve_options const& options) {
  auto const functions = loaded();
  return functions ? functions.value().solve(options) : functions.why();
}

problem::result<referenced> run_reference(reference_options const& options) {
  auto const functions = loaded();
  return functions ? functions.value().reference(options) : functions.why();
}

problem::result<std::string> run_explain(explain_options const& options) {
  auto const functions = loaded();
  return functions ? functions.value().explain(options) : functions.why();
}

}  // namespace attest::audit
