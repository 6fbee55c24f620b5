// What a verification says: its options as words, and what its files lack.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "audit/files/case_file.hpp"
#include "audit/findings/findings_folder.hpp"
#include "audit/report/report.hpp"
#include "audit/session/verify_options.hpp"

namespace attest::audit {

/// The command that judges the same files so again.
std::string reproducer_of(verify_options const& options, contract const& claim);

/// The words that distinguish this run from others that save findings in the same folder.
findings_run run_of(verify_options const& options);

/// "the file has no o (it has 'output'): --names o=output"
std::string remedy_of_missing(problem::operator_row const& of, std::string const& foreign_o);

/// "x.o: there is no recorded output, nothing to judge"
std::string words_of_missing(recorded_case const& entry);

/// "what earlier calls leave behind, in 3 cases (stale/a, …)", for each reason why it was not asked.
std::vector<omission> words_of_unprepared(std::map<std::string, std::vector<std::string>> const& by_reason);

/// The file's statements about its calls: how they ended, and why they are unsupported. Empty if all were answered.
std::vector<std::string> words_of_endings(recorded_endings const& endings);

}  // namespace attest::audit
