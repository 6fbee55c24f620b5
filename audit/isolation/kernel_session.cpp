#include "audit/isolation/kernel_session.hpp"

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// Two queries and three keys of small numbers: what a kernel gives for them, it gives.
stored_problem small_problem(problem::element_type type) {
  stored_problem made;
  made.q = stored_tensor::compact(type, {1, 1, 2, 4});
  made.k = stored_tensor::compact(type, {1, 1, 3, 4});
  made.v = stored_tensor::compact(type, {1, 1, 3, 2});
  for (stored_tensor* t : {&made.q, &made.k, &made.v})
    for (std::size_t at = 0; at < t->spanned_elements(); ++at) store(*t, at, 0.25 * static_cast<double>(at % 5) - 0.5);
  return made;
}

}  // namespace

problem::result<questioner> questioner::open(kernel_library const& library, problem::element_type type,
                                             interruption const& when, isolation_limits const& limits) {
  auto kernel = isolated_kernel::open(library.path, library.symbol, limits);
  if (!kernel) return kernel.why();
  questioner made(std::move(kernel).value(), when);
  auto const learned = made.ask(small_problem(type), 0, placement::end);
  if (learned && learned.value().did.outcome == call_outcome::answered) {
    made.lse_ = learned.value().answer.lse.has_value();
    made.weights_ = learned.value().answer.weights.has_value();
  }
  return made;
}

problem::result<questioner::reply> questioner::ask(stored_problem const& asked, std::int32_t threads, placement where) {
  struct wish { bool lse, weights; };
  reply made;
  for (auto const& [lse, weights] : {wish{true, true}, wish{true, false}, wish{false, true}, wish{false, false}}) {
    if ((lse && !lse_) || (weights && !weights_)) continue;
    stored_answer got;
    call_request const request{.want_lse = lse, .want_weights = weights, .threads = threads, .where = where,
                               .output_gap = 0, .stop = when_.stop, .until = when_.until};
    auto did = kernel_.run(asked, request, got);
    if (!did) return did.why();
    made.did = std::move(did).value();
    made.seconds += made.did.seconds;
    if (made.did.outcome == call_outcome::answered)
      made.answer = {std::move(got.o), std::move(got.lse), std::move(got.weights)};
    if (made.did.outcome != call_outcome::unsupported || !made.did.broken.empty()) break;
  }
  return made;
}

}  // namespace attest::audit
