// The O and LSE beside gradients: how they are read, and whether the errors of the gradients rest on them.
#pragma once

#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::audit {

/// The base of the LSE in `outputs` is the contract's. The LSE that a kernel is handed is natural (attest/kernel.h).
inline problem::log_base base_beside(owned_outputs const& outputs, contract const& claim) noexcept {
  return outputs.lse ? claim.conventions.lse_base : problem::log_base::e;
}

/// Recorded, if weights are formed from the LSE, and it is there beside what Δ needs. An LSE that does not count its
/// sink says nothing of the weights; weights that the forward pass saved are no function of an LSE.
inline reference::gradient_mode mode_beside(owned_problem const& problem, owned_outputs const& outputs, bool has_o,
                                            bool has_lse, contract const& claim) {
  using reference::gradient_mode;
  problem::gradient_model const backward = claim.gradient_for(problem.instance());
  bool const without_sink =
      outputs.lse && problem.draft().sink && claim.conventions.lse_sink == conventions::log_of_sink::excluded;
  if (!has_lse || without_sink || backward.weights == problem::backward_weights::saved) return gradient_mode::own;
  return has_o || backward.delta == problem::backward_delta::weights ? gradient_mode::recorded : gradient_mode::own;
}

/// One way in which the kernel of a contract may form gradients, and the mode in which bounds of it hold.
struct gradient_reading {
  problem::gradient_model model{};
  reference::gradient_mode mode = reference::gradient_mode::own;
  bool refutes = true;  ///< false: HB7 may fail, and a number beyond its bound may be honest
};

/// May gradients flow through the LSE of a part or the factor of a sink (HB7)? Not if the weights are formed again from
/// the LSE.
inline bool may_flow_through_parts(owned_problem const& problem, problem::kernel_model const& forward,
                                   gradient_reading const& reading) noexcept {
  if (reading.mode != reference::gradient_mode::own || reading.model.weights == problem::backward_weights::lse)
    return false;
  return forward.merge != problem::split_merge::raw ||
         (problem.draft().sink && forward.sink_form != problem::sink_form::term);
}

/// The readings of a call under a contract: each call is honest under one of them. `weights: either` beside an LSE says
/// that all weights of the call come from this LSE, or all from a forward pass under the contract.
inline std::vector<gradient_reading> readings_beside(owned_problem const& problem, owned_outputs const& outputs,
                                                     bool has_o, bool has_lse, contract const& claim) {
  problem::gradient_model model = claim.gradient_for(problem.instance());
  std::vector<gradient_reading> all{{model, mode_beside(problem, outputs, has_o, has_lse, claim)}};
  if (all.front().mode == reference::gradient_mode::recorded && model.weights == problem::backward_weights::either) {
    model.weights = problem::backward_weights::saved;
    all.push_back({model, reference::gradient_mode::own});
  }
  problem::kernel_model const forward = claim.model_for(problem.instance());
  for (gradient_reading& reading : all) reading.refutes = !may_flow_through_parts(problem, forward, reading);
  return all;
}

}  // namespace attest::audit
