#include "audit/isolation/kernel_session.hpp"

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// Two queries and three keys of small numbers: what a kernel gives for them, it gives.
owned_problem small_problem(problem::element_type type) {
  problem_draft made;
  made.q = owned_tensor::compact(type, {1, 1, 2, 4});
  made.k = owned_tensor::compact(type, {1, 1, 3, 4});
  made.v = owned_tensor::compact(type, {1, 1, 3, 2});
  for (owned_tensor* t : {&made.q, &made.k, &made.v})
    for (std::size_t at = 0; at < t->spanned_elements(); ++at) store(*t, at, 0.25 * static_cast<double>(at % 5) - 0.5);
  return owned_problem::of_valid(std::move(made));
}

}  // namespace

problem::result<kernel_session> kernel_session::open(kernel_library const& library, problem::element_type type,
                                                     interruption const& when, isolation_limits const& limits) {
  auto kernel = isolated_kernel::open(library.path, library.symbol, limits);
  if (!kernel) return kernel.why();
  kernel_session made(std::move(kernel).value(), when);
  auto const learned = made.ask(small_problem(type), 0, placement::end);
  if (learned && learned.value().did.outcome == call_outcome::answered) {
    made.lse_ = learned.value().answer.lse.has_value();
    made.weights_ = learned.value().answer.weights.has_value();
  }
  return made;
}

problem::result<kernel_session::reply> kernel_session::ask(owned_problem const& asked, std::int32_t threads,
                                                           placement where) {
  struct wish {
    bool lse, weights;
  };
  reply made;
  for (auto const& [lse, weights] : {wish{true, true}, wish{true, false}, wish{false, true}, wish{false, false}}) {
    if ((lse && !lse_) || (weights && !weights_)) continue;
    owned_outputs got;
    call_request const request{.want_lse = lse,
                               .want_weights = weights,
                               .threads = threads,
                               .where = where,
                               .output_gap = 0,
                               .stop = when_.stop,
                               .until = when_.until};
    auto did = kernel_.run(asked, request, got);
    if (!did) return did.why();
    made.did = std::move(did).value();
    made.seconds += made.did.seconds;
    if (made.did.outcome == call_outcome::answered) made.answer = std::move(got);
    if (made.did.outcome != call_outcome::unsupported || !made.did.broken.empty()) break;
  }
  return made;
}

}  // namespace attest::audit
