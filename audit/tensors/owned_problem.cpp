#include "audit/tensors/owned_problem.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace attest::audit {

problem::result<owned_problem> owned_problem::make(problem_draft draft) {
  auto shared = std::make_shared<contents>(contents{std::move(draft), std::nullopt});
  problem_draft const& kept = shared->draft;
  auto instance = problem::make_instance(kept.arguments());
  if (!instance) return std::move(instance).why();
  auto const covers = [](owned_tensor const& t) {
    return t.bytes.size() / problem::size_of(t.type) >= t.spanned_elements();
  };
  if (!covers(kept.q) || !covers(kept.k) || !covers(kept.v) || (kept.mask && !covers(*kept.mask)) ||
      (kept.bias && !covers(*kept.bias)))
    return problem::error{problem::error_code::missing, "", "an input has fewer bytes than its layout reaches"};
  shared->instance = std::move(instance).value();
  return owned_problem(std::move(shared));
}

owned_problem owned_problem::of_valid(problem_draft draft) {
  auto problem = make(std::move(draft));
  if (!problem) {
    std::fprintf(stderr, "attest: a problem that attest itself made is none: %s\n", problem.why().message().c_str());
    std::abort();
  }
  return std::move(problem).value();
}

problem::sizes const& owned_problem::size() const noexcept {
  return std::visit([](auto const& p) -> problem::sizes const& { return p.size(); }, instance());
}

}  // namespace attest::audit
