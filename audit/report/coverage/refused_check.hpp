// Why a check was not asked, in words and back: a row of `not_asked` of a report.
#pragma once

#include <string>
#include <string_view>

#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

/// "check NAME".
std::string refused_check(std::string_view check);
/// "the kernel does not support softcap, sink"; without features, "the kernel answered none of its cases".
std::string words_of_refusal(feature_set const& unsupported);
/// The features in such words; no features for any other words.
feature_set refused_in(std::string_view words);

}  // namespace attest::audit
