// The sizes at which a kernel refuses calls, or withholds an output, if its features alone do not explain it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/cases/forms/call_form.hpp"
#include "audit/report/coverage/coverage.hpp"

namespace attest::audit {

struct asked_call {
  call_form form;
  call_replies outcome;
};

/// A sentence each for refused calls, for LSE withheld and for weights withheld, if one size separates refused calls
/// from answered ones. The sizes are n, m, d, dv, b, heads, heads in a group, threads, b·heads and n·m. They are
/// separated by a bound ("m is 1,025 or more"), an interval ("m is 66"), or a residue modulo 2 to 64 ("m is no multiple
/// of 8", "m mod 64 is 41"), in this order. Sizes that separate equally well are named together.
/// Calls with a feature, or a pair of features, that no answered call had are left out: that feature explains them.
/// Requires  no negative size
/// Ensures   a sentence is true of all calls that were asked, except calls left out, and claims nothing about others;
///           no sentence without two refused calls and two answered ones
/// Cost      calls · log(calls) for each size
std::vector<std::string> refusal_patterns(std::span<asked_call const> calls);

/// "of 20 plain calls of the declared domain it refused 7, the first with b=1 hq=2 hk=2 n=64 m=64 d=128 dv=128". Empty
/// if none of these calls was refused. Which calls are plain: is_bare(), without a feature, or two at a time, that it
/// never answers: coverage has these.
std::string words_of_refused_plain(std::span<asked_call const> calls);

}  // namespace attest::audit
