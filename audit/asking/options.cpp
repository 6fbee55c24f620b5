#include "audit/asking/options.hpp"

#include <algorithm>

#include "audit/isolation/own_time.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

isolation_limits limits_of(audit_options const& options) {
  isolation_limits limits;
  if (options.quick) limits.loading_seconds = 5, limits.resting_seconds = 5, limits.waiting_seconds = 60;
  if (options.budget) limits.loading_seconds = std::min(limits.loading_seconds, *options.budget);
  limits.all_protections = options.require_isolation;
  limits.needs = options.needs;
  limits.outputs = options.outputs;
  return limits;
}

std::optional<problem::error> read_domain(std::optional<std::string> const& text, audit_options& into) {
  if (!text) return std::nullopt;
  auto read = call_domain::of_text(*text);
  if (!read) return read.why();
  into.domain = std::move(read).value();
  return std::nullopt;
}

std::string audit_options::words_of_rules() const {
  std::string words = reproducible ? " --reproducible" : "";
  if (require_concurrent_calls) words += " --require-concurrent-calls";
  for (std::string const& need : needs.words())
    words += need == "device" ? " --device" : " --allow " + shell_word(need);
  return words;
}

std::chrono::steady_clock::time_point audit_options::time_of_draws() const {
  return budget || soak ? std::chrono::steady_clock::now() : own_time::now();
}

namespace {

std::chrono::steady_clock::time_point later(std::chrono::steady_clock::time_point begun, double seconds) {
  return begun +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::chrono::steady_clock::time_point audit_options::draws_until() const {
  // The rest of the time is for the draw under way, and for writing the report.
  return later(begun, (budget ? 0.85 : 0.9) * seconds_of_draws());
}

}  // namespace attest::audit
