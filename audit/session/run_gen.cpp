#include "audit/session/run_gen.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "audit/asking/plan.hpp"
#include "audit/cases/families/plain.hpp"
#include "audit/files/case_file.hpp"
#include "audit/judge/forward_answers.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

std::uint64_t bytes_of(owned_tensor const& tensor) {
  auto const& [rank, shape, stride] = tensor.layout;
  return std::accumulate(
      shape.begin(), shape.begin() + rank, problem::size_of(tensor.type),
      [](std::uint64_t bytes, std::int64_t size) { return bytes * static_cast<std::uint64_t>(size); });
}

/// About how many bytes of a file a case takes: the bytes of its tensors, and less than a kilobyte of names for each
/// call.
std::uint64_t bytes_of(audit_case const& written) {
  std::uint64_t bytes = 0;
  for (std::size_t call = 0; call <= written.further.size(); ++call) {
    problem_draft const& draft = written.call(call).draft();
    bytes += 1000 + 20 * written.full_name().size() + bytes_of(draft.q) + bytes_of(draft.k) + bytes_of(draft.v);
    draft.each_optional([&](auto const&, owned_tensor const& tensor) { bytes += bytes_of(tensor); });
  }
  return bytes;
}

std::uint64_t bytes_of(std::vector<audit_case> const& cases) {
  return std::accumulate(cases.begin(), cases.end(), std::uint64_t{0},
                         [](std::uint64_t bytes, audit_case const& written) { return bytes + bytes_of(written); });
}

/// The number of cases of each check.
using counts = std::map<std::string, std::int64_t>;

/// Takes the largest draws away, then the largest other cases, until the rest has at most about `most` bytes.
void take_largest(std::vector<audit_case>& cases, std::uint64_t most, counts& taken_of_checks) {
  std::vector<std::tuple<bool, std::uint64_t, std::size_t>> by_size;
  for (std::size_t n = 0; n < cases.size(); ++n) by_size.emplace_back(cases[n].check == "drawn", bytes_of(cases[n]), n);
  std::ranges::sort(by_size);
  std::vector<bool> taken(cases.size());
  for (std::uint64_t all = bytes_of(cases); all > most && !by_size.empty(); by_size.pop_back()) {
    auto const [is_draw, bytes, largest] = by_size.back();
    all -= bytes, taken[largest] = true, ++taken_of_checks[cases[largest].check];
  }
  std::vector<audit_case> left;
  for (std::size_t n = 0; n < cases.size(); ++n)
    if (!taken[n]) left.push_back(std::move(cases[n]));
  cases = std::move(left);
}

/// "3 of 547 cases, which pass --size 1000 (2 of tails, 1 of every-key)"; empty if none was taken.
std::string clause(counts const& taken, std::size_t all, std::uint64_t most) {
  std::int64_t sum = 0;
  std::vector<std::string> checks;
  for (auto const& [check, count] : taken) sum += count, checks.push_back(fmt::format("{} of {}", count, check));
  if (sum == 0) return "";
  return fmt::format("{} of {} cases, which pass --size {} ({})", sum, all, most, fmt::join(checks, ", "));
}

/// The names of --only that no case has.
names without_cases(names only, std::vector<audit_case> const& cases) {
  for (audit_case const& c : cases) only.erase(c.check), only.erase(c.full_name());
  return only;
}

bool is_of_gradients(audit_case const& c) { return c.problem.draft().d_out.has_value(); }

std::string text_of(gen_options const& options) {
  std::string text;
  if (!options.cases.only.empty()) text += fmt::format(" --only {}", fmt::join(options.cases.only, ","));
  if (options.cases.quick) text += " --quick";
  if (options.cases.domain) text += fmt::format(" --domain {}", options.cases.domain->text());
  if (options.plain) text += " --plain";
  if (options.version > 1) text += fmt::format(" --abi {}", options.version);
  return text.empty() ? text : text.substr(1);
}

}  // namespace

problem::result<generated_file> run_gen(gen_options const& options) {
  kernel_domain domain;
  if (options.cases.domain) domain = {*options.cases.domain, *options.cases.domain, domain_origin::declared};
  auto const plan = planned(options.cases, domain);
  if (!plan) return plan.why();
  // A file holds many cases: large ones are cut to a few hundred kilobytes.
  shape_limits limits{.domain = domain.domain};
  limits.call = {.bytes = std::int64_t{1} << 19,
                 .products = options.cases.draw_products.value_or(std::int64_t{1} << 24)};
  limits.gradients = {.products = limits.call.products / 4, .domain = domain.domain};
  std::vector<audit_case> cases = made_cases(plan.value(), limits, options.cases.draws.value_or(100));
  if (cases.empty()) return error{error_code::missing, "--only", "none of the chosen cases is left"};
  std::erase_if(cases, [](audit_case const& c) { return c.callers > 0; });
  if (cases.empty())
    return error{error_code::missing, "--only",
                 "names only calls that several threads make at the same time, which a file cannot ask"};
  names const none_before = without_cases(options.cases.only, cases);
  // A program that reads the file and knows an earlier version would answer without the later tensors.
  bool const gradients = std::ranges::all_of(cases, is_of_gradients);
  if (options.version < 2)
    std::erase_if(cases, [](audit_case const& c) {
      bool version_1 = true;
      for (std::size_t call = 0; call <= c.further.size(); ++call)
        version_1 = version_1 && c.call(call).draft().is_of_version_1();
      return !version_1;
    });
  if (options.version < 3) std::erase_if(cases, is_of_gradients);
  if (cases.empty())
    return error{error_code::missing, "--abi", fmt::format("all of the chosen cases need --abi {}", gradients ? 3 : 2)};
  for (audit_case& made : cases) made = with_forward(std::move(made));
  names of_version_2 = without_cases(options.cases.only, cases);
  for (std::string const& name : none_before) of_version_2.erase(name);
  std::string not_plain;
  if (options.plain) {
    std::size_t const all = cases.size();
    std::erase_if(cases, [](audit_case const& c) {
      return !is_plain(c.problem) ||
             !std::ranges::all_of(c.further, [](further_call const& call) { return is_plain(call.problem); });
    });
    not_plain = fmt::format("{} of {} cases, which are not plain", all - cases.size(), all);
  }
  if (cases.empty()) return error{error_code::missing, "--plain", "none of the chosen cases is plain"};
  case_file_options file{options.cases.seed, options.cases.claim->name, options.order, {}};
  if (std::string text = text_of(options); !text.empty()) file.further["attest.options"] = std::move(text);
  std::size_t const all = cases.size();
  counts taken;
  // bytes_of is only about right: if the file is still too large, further cases go.
  for (std::uint64_t most = options.most_bytes;;) {
    take_largest(cases, most, taken);
    if (cases.empty())
      return error{error_code::bad_value, "--size",
                   fmt::format("is {} bytes, in which none of the chosen cases fits", options.most_bytes)};
    generated_file written{{}, clause(taken, all, options.most_bytes)};
    if (!of_version_2.empty())
      written.left_out = fmt::format("{}: --abi 2 has them{}{}", fmt::join(of_version_2, ", "),
                                     written.left_out.empty() ? "" : "; ", written.left_out);
    if (!not_plain.empty() || !written.left_out.empty())
      file.further["attest.left_out"] =
          not_plain + (not_plain.empty() || written.left_out.empty() ? "" : "; ") + written.left_out;
    auto bytes = case_file_bytes(cases, file);
    if (!bytes) return bytes.why();
    std::size_t const size = bytes.value().size();
    written.bytes = std::move(bytes).value();
    if (size <= options.most_bytes) return written;
    std::uint64_t const about = bytes_of(cases), over = size - options.most_bytes;
    most = about > over ? about - over : 0;
  }
}

}  // namespace attest::audit
