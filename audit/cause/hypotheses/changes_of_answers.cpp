// The steps that change what a kernel returned, and the model beside it.
#include <cmath>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {

answered_call without_weights(answered_call call) {
  call.outputs.weights.reset();
  return call;
}

answered_call with_model(answered_call const& call) {
  answered_call supposed = call;
  supposed.claim.fixed = call.claim.model_for(call.problem.instance());
  supposed.claim.builtin = false;
  return supposed;
}

void scale_rows_of_o(answered_call& call,
                     std::function<double(std::int64_t b, std::int64_t h, std::int64_t i)> const& factor) {
  problem::sizes const& s = call.problem.size();
  owned_tensor& o = *call.outputs.o;
  call.claim.fixed.k_f += 2;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    double const by = factor(row / s.n / s.hq, row / s.n % s.hq, row % s.n);
    for (std::int64_t at = row * s.dv; std::isnormal(by) && at < (row + 1) * s.dv; ++at)
      store(o, static_cast<std::size_t>(at), load(o, static_cast<std::size_t>(at)) * by);
  }
}

std::optional<answered_call> with_lse(
    answered_call const& call,
    std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, double got)> const& change) {
  if (!call.outputs.lse) return std::nullopt;
  answered_call supposed = with_model(call);
  supposed.claim.fixed.k_lse += 2;
  problem::sizes const& s = call.problem.size();
  owned_tensor& lse = *supposed.outputs.lse;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row)
    store(lse, static_cast<std::size_t>(row),
          change(row / s.n / s.hq, row / s.n % s.hq, row % s.n, load(lse, static_cast<std::size_t>(row))));
  return supposed;
}

}  // namespace attest::audit
