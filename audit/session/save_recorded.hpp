// The cases of findings in recorded files, each as a file of its own.
#pragma once

#include <vector>

#include "audit/files/case_file.hpp"
#include "audit/findings/findings_folder.hpp"
#include "audit/report/report.hpp"
#include "audit/session/verify_options.hpp"

namespace attest::audit {

/// Writes the case of the first finding of every check and class into `folder`: its tensors and metadata as the
/// files have them, the options' flags as metadata. The reproducer becomes `attest verify FILE`.
/// Ensures   at most 64 files. If the options name one file that holds no other case, the finding names that file. A
///           case that could not be saved is an observation
/// Cost      reading the files again, if there are findings
void save_recorded(verify_options const& options, std::vector<recorded_case> const& cases, findings_folder& folder,
                   report& into);

}  // namespace attest::audit
