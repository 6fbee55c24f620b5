// One run under way, from its first case to the end of its report. Its cases come from a kernel that can be asked
// (audit_session.hpp) or from recorded answers (verify_session.hpp). What follows is the same for both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "audit/asking/options.hpp"
#include "audit/cases/case.hpp"
#include "audit/findings/findings_folder.hpp"
#include "audit/judge/case_result.hpp"
#include "audit/report/builder.hpp"
#include "problem/result.hpp"

namespace attest::audit {

class session {
 public:
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  virtual ~session() = default;

  /// Takes every case into the report and sets its verdict. Then it explains and saves what refutes.
  std::optional<problem::error> run();

 protected:
  /// A case with the judgement of its answers.
  struct judged_case {
    audit_case const* input;  ///< until the next case is asked
    bool generated;           ///< attest made the case, so that its faults are of the class of its check
    std::int64_t number;      ///< among all cases, from 1
    case_result result;
    std::string reproducer;  ///< the command line that shows its findings again
  };

  /// `into` and `waived` must outlive the session.
  session(report& into, names const& waived, findings_folder saved)
      : report_(into), collect_(into, waived), saved_(std::move(saved)) {}

  report& report_;
  report_builder collect_;
  findings_folder saved_;

 private:
  virtual std::optional<problem::error> begin() { return std::nullopt; }
  /// The next case; nothing behind the last one, or if the run stops before it.
  virtual problem::result<std::optional<judged_case>> next() = 0;
  /// Says what was asked and what was not, and sets the verdict.
  virtual void close() = 0;
  /// Did the user end the run?
  virtual bool interrupted() const = 0;
  /// Is there more to say of a refuted kernel than what refutes it?
  virtual bool explains() const { return !interrupted(); }
  virtual void name_cause() = 0;
  /// Where is the kernel wrong? Recorded answers cannot tell.
  virtual void name_conditions() {}
  /// Draws and saves the findings that a report shows first.
  virtual void save_findings() = 0;

  void take(judged_case&& taken);
};

}  // namespace attest::audit
