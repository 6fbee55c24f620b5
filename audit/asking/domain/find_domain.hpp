// The domain of a kernel, found by a few small calls that it may refuse.
#pragma once

#include <functional>

#include "audit/asking/domain/domain_questions.hpp"
#include "audit/cases/domain/call_domain.hpp"

namespace attest::audit {

struct found_domain {
  call_domain domain{};  ///< everything, too, if no call is answered
  domain_answers answers{};
};

/// First a dozen calls that only a kernel without limits takes: if all are answered, that is all. Otherwise a call that
/// is answered, among the shapes of common kernels; from there one axis after the other; then pairs of axes. Of what
/// the calls contradict, the smaller domain counts. What is not asked, because the time is over or because too many
/// calls ended the kernel's process, is outside.
/// Ensures   the same calls for the same answers, unless it is cut short by `when` or by its time
/// `gives_up` is asked once, if every usual call was refused: true ends the search before it asks unusual ones.
/// Cost      usually 12 or 100 to 200 small calls; of a kernel that refuses nearly all, up to 2550
found_domain find_domain(
    kernel_session& kernel, contract const& claim, std::uint64_t seed, interruption const& when,
    search_time const& time, std::function<bool()> const& gives_up = [] { return false; },
    function_asked of = function_asked::attention);

/// The domain of the backward passes of a kernel whose calls of attention have this domain: the same, if it takes some
/// calls at its edges; else the domain that find_domain finds.
found_domain find_backward_domain(kernel_session& kernel, contract const& claim, std::uint64_t seed,
                                  interruption const& when, search_time const& time, call_domain const& of_attention);

}  // namespace attest::audit
