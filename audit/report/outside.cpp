#include "audit/report/outside.hpp"

#include <fmt/format.h>

#include "audit/report/number_words.hpp"

namespace attest::audit {

std::optional<outside_place> most_outside(report const& kernel_report) {
  std::optional<outside_place> most;
  for (check_result const& row : kernel_report.checks)
    for (std::size_t output = 0; output < output_names.size(); ++output) {
      outside_share const& of = row.sum.shares[output];
      if (of.share() > (most ? most->of.share() : 0)) most = {row.name, output_names[output], of};
    }
  return most;
}

std::string outside_words(outside_place const& place, double limit) {
  return fmt::format(
      "{} of {} elements of {} in {} lie outside the hypotheses of the bound ({}, and --outside allows {})",
      grouped(place.of.outside), grouped(place.of.judged + place.of.outside), place.output, place.check,
      percent(place.of.share()), percent(limit));
}

}  // namespace attest::audit
