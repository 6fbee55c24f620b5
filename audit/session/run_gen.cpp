#include "audit/session/run_gen.hpp"

#include "audit/files/case_file.hpp"
#include "audit/session/select.hpp"

namespace attest::audit {

problem::result<std::vector<std::byte>> run_gen(audit_options const& options) {
  auto const cases = chosen_cases(options);
  if (!cases) return cases.why();
  return case_file_bytes(cases.value(), options.seed, options.claim->name);
}

}  // namespace attest::audit
