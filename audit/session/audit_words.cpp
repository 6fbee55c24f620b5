#include "audit/session/audit_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/support/words.hpp"

namespace attest::audit {

std::string text_of(audit_options const& options) {
  std::string text = fmt::format("--only {}{}{}", fmt::join(options.only, ","), options.quick ? " --quick" : "",
                                 options.words_of_rules());
  if (!options.waived.empty()) text += fmt::format(" --waive {}", fmt::join(options.waived, ","));
  if (!options.required_support.empty())
    text += fmt::format(" --require-support {}", fmt::join(options.required_support, ","));
  if (options.domain) text += fmt::format(" --domain {}", shell_word(options.domain->text()));
  if (options.strict_refusals) text += " --refusals strict";
  if (options.replay) text += fmt::format(" --replay {}{}", options.replay->native(), options.replay_words.options());
  if (options.draws) text += fmt::format(" --draws {}", *options.draws);
  if (options.draw_products) text += fmt::format(" --draw-products {}", *options.draw_products);
  return text;
}

findings_run run_of(audit_options const& options) {
  findings_run of;
  of.run =
      fmt::format("audit --kernel {} --contract {}", shell_word(options.kernel), shell_word(options.contract_argument));
  if (options.replay) of.single = " --replay " + shell_word(options.replay->native()) + options.replay_words.options();
  else if (!options.only.empty()) of.single = fmt::format(" --only {}", fmt::join(options.only, ","));
  if (!options.part) return of;
  of.shard = options.part->index;
  of.audit = fmt::format("--seed {} {} of {} shards", options.seed, text_of(options), options.part->of);
  return of;
}

}  // namespace attest::audit
