// One verification under way: the answers of its files (take_answers.cpp) and its report (run_verify.cpp).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/files/case_file.hpp"
#include "audit/judge/wider_claims.hpp"
#include "audit/report/coverage/coverage.hpp"
#include "audit/session/other_layout.hpp"
#include "audit/session/session.hpp"
#include "audit/session/verify_options.hpp"
#include "audit/session/verify_words.hpp"
#include "problem/result.hpp"

namespace attest::audit {

class verify_session final : public session {
 public:
  /// `foreign_o` is the name of a tensor of the files that may be an O; empty if there is none.
  verify_session(verify_options const& options, std::vector<recorded_case> cases, std::string foreign_o, report& into)
      : session(into, options.waived, {options.findings, run_of(options)}),
        options_(options),
        cases_(std::move(cases)),
        foreign_o_(std::move(foreign_o)) {}

 private:
  static constexpr char const* by_user = "interrupted";

  problem::result<std::optional<judged_case>> next() override;
  void close() override;
  bool interrupted() const override { return stopped_ == by_user; }
  void name_cause() override;
  void save_findings() override;
  case_result result_of(recorded_case& entry, contract const& claim);
  bool judge(recorded_case& entry, contract const& claim, case_result& into);
  void judge_by_wider_claims(recorded_case const& entry, contract const& claim, bool usable, case_result& into);
  void read_otherwise(recorded_case const& entry, contract const& claim, case_result& into);
  void note_claim(contract const& claim);
  void note_unanswered(recorded_case const& entry);
  void draw_findings();
  /// Why no further case is judged; empty if there is time.
  std::string why_to_stop() const;

  verify_options const& options_;
  std::vector<recorded_case> cases_;
  std::string foreign_o_;
  std::int64_t number_ = 0;             ///< cases that were taken
  std::string stopped_;                 ///< why not all were; empty: they were
  bool complete_ = true, any_ = false;  ///< does every case have an answer, and does any?
  reply_count plain_;                   ///< of the problems that attest made
  recorded_endings endings_;
  std::map<std::string, std::vector<std::string>> unprepared_;  ///< cases, by the reason
  std::map<std::string, wider_claims> wider_;                   ///< by the name of the claim
  std::set<std::string> merges_under_;                          ///< presets that the claim implies for merges
  std::optional<other_reading> reading_;                        ///< of all failing cases so far
  std::int64_t cases_so_read_ = 0;
  std::string remedy_;  ///< of the first case without an answer
};

}  // namespace attest::audit
