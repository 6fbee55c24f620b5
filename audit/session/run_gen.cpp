#include "audit/session/run_gen.hpp"

#include "audit/files/case_file.hpp"
#include "audit/session/plan.hpp"

namespace attest::audit {

problem::result<std::vector<std::byte>> run_gen(audit_options const& options) {
  auto const plan = planned(options);
  if (!plan) return plan.why();
  // A file holds many cases: large ones are cut to a few hundred kilobytes.
  shape_limits limits;
  limits.call = {.bytes = std::int64_t{1} << 19, .products = options.draw_products.value_or(std::int64_t{1} << 24)};
  auto const cases = made_cases(plan.value(), limits, options.draws.value_or(100));
  return case_file_bytes(cases, options.seed, options.claim->name);
}

}  // namespace attest::audit
