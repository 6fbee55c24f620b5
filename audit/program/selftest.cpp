// attest selftest: the audit against kernels with known defects, and honest ones.
#include "audit/zoo/selftest.hpp"

#include <fmt/format.h>

#include "audit/program/command.hpp"
#include "audit/program/terminal.hpp"
#include "audit/program/usage_words.hpp"

namespace attest::audit {
namespace {

int run(selftest_options& options) {
  options.on_progress = [line = progress_line{}](auto done, auto all) mutable { line(done, all, "kernels"); };
  options.stop = &listen_for_interrupts();
  auto const tested = run_selftest(options);
  if (!tested) return usage_error(tested.why().message());
  return print(as_text(tested.value()), static_cast<int>(tested.value().verdict()));
}

}  // namespace

action selftest_command(CLI::App& command) {
  auto const options = std::make_shared<selftest_options>();
  command.add_option("--jobs", options->jobs, "kernels at a time; 0: one a processor")->check(CLI::Range(0, 256));
  command.add_flag("--causes", options->causes,
                   "ask each mutant up to 24 failing inputs, and compare the cause that is named with the planted one");
  command.add_option("--seed", options->seed, "for the generated cases")
      ->transform(whole_number())
      ->capture_default_str();
  command.add_option("--only", options->only, "these kernels of the zoo")->delimiter(',')->type_name("NAME,…");
  command
      .add_option("--family", options->family,
                  "the kernels of this family of the zoo instead of the kernels of no family")
      ->check(one_of({std::string(zoo::conditional_family), std::string(zoo::operator_family),
                      std::string(zoo::backward_family)}));
  command.add_option("--draws", options->draws, "cases drawn after the fixed part, for each kernel of a family")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  command
      .add_option("--draw-products", options->draw_products,
                  "the most multiplications of a large call, for each kernel of a family")
      ->check(CLI::Range(std::int64_t{1} << 16, std::int64_t{1} << 40))
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace attest::audit
