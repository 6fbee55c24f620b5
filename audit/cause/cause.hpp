// The cause of failing inputs: the mistakes that explain them, as data of a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attest::audit {

/// A mistake under which failing inputs are certified.
struct named_mistake {
  std::string name, sentence;  ///< as audit/cause/hypotheses/ has them
  std::int64_t explains = 0;   ///< failing inputs
  /// Of the inputs that pass and that the mistake would change: how many were tried, and how many are answered rightly
  /// all the same, so that the mistake is not made there.
  std::int64_t tried_passing = 0, contradicted = 0;
};

/// The smallest set of known mistakes that explains the most failing inputs. If only one input was tried: every mistake
/// that explains it, since one input does not tell them apart.
struct named_cause {
  std::vector<named_mistake>
      mistakes;  ///< the mistake that explains the most comes first; empty: nothing known explains any input
  std::int64_t explains = 0, of = 0;     ///< failing inputs that they explain together, and that were tried
  std::int64_t failed = 0;               ///< failing inputs; time may not allow to try them all
  std::vector<std::string> unexplained;  ///< those tried that nothing explains: CHECK/CASE, in the order of the cases
  std::string condition;                 ///< where the kernel is wrong, of the first finding where it is known
  double seconds = 0;                    ///< that the search took

  /// Does each of the mistakes by itself explain the only input that was tried?
  bool is_ambiguous() const { return of == 1 && mistakes.size() > 1; }
};

}  // namespace attest::audit
