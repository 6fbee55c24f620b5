#include "audit/session/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/report/text.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

/// Gives kernels of the same name (symbols of one library) the name of their file instead. If that is the same, they
/// get the whole argument of --kernel.
void make_names_unique(std::vector<report>& all, std::span<std::string const> kernels) {
  auto const repeated = [&] {
    std::vector<bool> is_repeated;
    for (report const& kernel_report : all)
      is_repeated.push_back(std::ranges::count(all, kernel_report.kernel, &report::kernel) > 1);
    return is_repeated;
  };
  for (bool const whole : {false, true}) {
    auto const again = repeated();
    for (std::size_t n = 0; n < all.size(); ++n)
      if (again[n]) all[n].kernel = printable(whole ? kernels[n] : kernels[n].substr(kernels[n].rfind('/') + 1));
  }
}

}  // namespace

problem::result<std::vector<report>> run_audits(audit_options const& options, std::span<std::string const> kernels) {
  std::vector<report> all;
  for (std::string const& kernel : kernels) {
    audit_options mine = options;
    mine.kernel = kernel;
    if (mine.budget) *mine.budget /= static_cast<double>(kernels.size());
    if (!all.empty()) mine.begun = std::chrono::steady_clock::now();
    if (kernels.size() > 1 && !mine.findings.empty()) mine.findings /= fmt::format("kernel-{}", all.size() + 1);
    auto audited = run_audit(mine);
    if (!audited) return audited.why();
    all.push_back(std::move(audited).value());
    if (options.interrupted()) break;
  }
  if (all.size() > 1) make_names_unique(all, kernels);
  return all;
}

std::string as_text(std::span<report const> all) {
  std::string text, verdicts;
  for (report const& kernel_report : all) {
    text += (text.empty() ? "" : "\n") + as_text(kernel_report);
    verdicts +=
        fmt::format("{}{}: {}", verdicts.empty() ? "" : "; ", kernel_report.kernel, name_of(kernel_report.verdict));
  }
  if (all.size() == 1) return text;
  bool const same =
      std::ranges::all_of(all, [&](report const& one) { return one.domain.text == all.front().domain.text; });
  return text + fmt::format("\n{} kernels{}. {}\n", all.size(),
                            same ? " on the same inputs" : ", each on its own domain", verdicts);
}

}  // namespace attest::audit
