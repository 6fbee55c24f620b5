#include "audit/tensors/owned_problem.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace attest::problem {
template result<any_instance> make_instance<void>(erased_arguments const&);
template class instance<float>;
template class instance<double>;
template class instance<f16>;
template class instance<bf16>;
template struct outputs<float>;
template struct outputs<double>;
template struct outputs<f16>;
template struct outputs<bf16>;
}  // namespace attest::problem

namespace attest::audit {

problem::result<owned_problem> owned_problem::make(problem_draft draft) {
  auto shared = std::make_shared<contents>(contents{std::move(draft), std::nullopt});
  problem_draft const& kept = shared->draft;
  auto const covers = [](owned_tensor const& t) {
    return t.bytes.size() / problem::size_of(t.type) >= t.spanned_elements();
  };
  problem::error const too_short{problem::error_code::missing, "", "an input has fewer bytes than its layout reaches"};
  // Validation reads the numbers of lengths, offsets and the table, so that their bytes are checked first.
  std::optional<problem::error> why;
  kept.each_optional([&](problem::optional_tensor const& row, owned_tensor const& tensor) {
    if (why || !row.whole_numbers) return;
    why = problem::checks::layout_fault(row.name, tensor.layout, problem::size_of(tensor.type), true);
    if (!why && !covers(tensor)) why = too_short;
  });
  if (why) return *std::move(why);
  auto instance = problem::make_instance(kept.arguments());
  if (!instance) return std::move(instance).why();
  bool covered = covers(kept.q) && covers(kept.k) && covers(kept.v);
  kept.each_optional([&](auto const&, owned_tensor const& tensor) { covered = covered && covers(tensor); });
  if (!covered) return too_short;
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
