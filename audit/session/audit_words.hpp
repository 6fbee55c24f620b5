// The options of an audit as words: for its report, and for the index of its findings.
#pragma once

#include <string>

#include "audit/asking/options.hpp"
#include "audit/findings/findings_folder.hpp"

namespace attest::audit {

/// The options that determine the cases and their judgement, except kernel, contract and seed; the same in every shard.
std::string text_of(audit_options const& options);

/// The words that distinguish this audit from others that save findings in the same folder.
findings_run run_of(audit_options const& options);

}  // namespace attest::audit
