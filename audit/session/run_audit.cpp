#include "audit/session/run_audit.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/asking/kernel_build.hpp"
#include "audit/asking/protections.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/cases/families/merges.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/findings/name_cause.hpp"
#include "audit/findings/save_findings.hpp"
#include "audit/report/coverage/refused_check.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/session/audit_session.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

/// The end of the work that follows the judgement of a refuted kernel. The rest of the time is for the work under way
/// and for writing the report.
audit_session::clock::time_point audit_session::search_end(double most_seconds, double part_of_budget) const {
  auto end = in_own(options_.quick ? 2 : most_seconds);
  if (options_.quick && may_hurry()) end = std::min(end, since_begun_in_own(9));
  if (options_.budget) end = std::min(end, options_.begun + seconds(part_of_budget * *options_.budget));
  return end;
}

/// The end of the search for the cause: after 10 s, sooner if the user has little time.
audit_session::clock::time_point audit_session::cause_end() const {
  auto end = in_own(10);
  if (options_.quick && may_hurry()) end = std::min(end, std::max(since_begun_in_own(8), in_own(3)));
  if (options_.budget) end = std::min(end, options_.begun + seconds(0.92 * *options_.budget));
  return end;
}

namespace {

/// "float32" for "f32": the type as kernels' documents call it.
std::string_view full_name(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> names[]{
      {"f32", "float32"}, {"f64", "float64"}, {"f16", "float16"}, {"bf16", "bfloat16"}};
  for (auto const& [token, name] : names)
    if (token == type) return name;
  return type;
}

constexpr char const* words_of_part =
    "calls take so long that the search for the domain of the kernel was cut short; --domain states it";

/// Why an audit of a kernel that refuses everything is undecided, and what to do.
std::string words_of_refusing(kernel_domain const& of, problem::element_type type) {
  std::string const refused = fmt::format("the kernel refused every {} call", full_name(problem::name_of(type)));
  if (of.other_type.empty())
    return refused +
           "; --domain states calls that the search did not try, and `attest list kernels --kernel KERNEL` asks "
           "what it takes";
  return fmt::format("{}; it answers {}: --contract {}", refused, full_name(of.other_type), of.other_type);
}

}  // namespace

/// A check proves nothing if the kernel answered none of its cases.
void audit_session::list_refused_checks() {
  for (check_result const& row : report_.checks) {
    if (row.name == check_of_merges && row.unsupported < row.cases)
      report_.observations.insert(report_.observations.begin(),
                                  fmt::format("merges are judged under {}", contract_of_merges(*options_.claim).name));
    if (row.unsupported < row.cases) continue;
    feature_set unsupported;
    refused_[row.name].each([&](feature one) {
      if (!pool_.limits().answers.answers(feature_set{one})) unsupported.add(one);
    });
    report_.not_asked.push_back({refused_check(row.name), words_of_refusal(unsupported)});
  }
}

std::optional<problem::error> audit_session::begin() {
  if (auto why = pool_.start()) return why;
  report_.kernel = pool_.name();
  report_.kernel_builds = {build_of(options_.kernel, options_.channel, options_.claim->type)};
  report_.relaxed = relaxed(options_.claim->conventions);
  report_.missing_protections = pool_.missing_protections();
  report_.protections = protections_of(limits_of(options_), report_.missing_protections, options_.channel >= 0);
  if (pool_.loading_changes_environment())
    report_.observations.emplace_back(
        "loading the kernel changed the rounding mode or FTZ/DAZ of its process (-ffast-math does)");
  return std::nullopt;
}

void audit_session::close() {
  std::string because = end_of_cases();
  list_refused_checks();
  if (plan_.draws && !options_.draws && !options_.part && !nothing_to_draw_)
    report_.observations.push_back(fmt::format(
        "{} draws, of at most {} multiplications a large call: --draws {} --draw-products {} asks them again",
        report_.draws, report_.draw_products, report_.draws, report_.draw_products));
  if (plan_.draws && !options_.part && options_.only.empty()) report_.observations.push_back(points_.words());
  if (!options_.part) {  // a shard knows its own calls only
    for (std::string& sentence : refusal_patterns(asked_)) report_.observations.push_back(std::move(sentence));
    if (report_.domain.from == domain_origin::declared)
      if (std::string refused = words_of_refused_plain(asked_); !refused.empty())
        report_.observations.emplace_back(std::move(refused), kind_refused);
  }
  if (refused_by_size_ > 0)
    report_.observations.emplace_back(
        fmt::format(
            "{} ended by what may be a refusal of {} sizes, such as {}: taken as outside its domain; --refusals "
            "strict judges them, --domain states the rule",
            counted(refused_by_size_, "input", "inputs"), refused_by_size_ == 1 ? "its" : "their", refused_sizes_),
        kind_refused);
  if (because.empty() && plan_.is_part) because = words_of_part;
  collect_.finish(because.empty() && !incomplete_, because);
}

void audit_session::name_cause() { audit::name_cause(options_, plan_, pool_.limits(), cause_end(), report_); }

void audit_session::save_findings() {
  if (!options_.findings.empty() && collect_.refuted() && !interrupted())
    audit::save_findings(
        options_, [&](auto check, auto name) { return plan_.make(check, name, pool_.limits()); }, search_end(15, 0.95),
        saved_, report_, pool_.limits().domain,
        [&](finding& found, audit_case const& smaller) { check_condition(found, smaller); });
  for (finding& found : report_.findings)
    if (!found.pictures && found.no_pictures.empty())
      found.no_pictures = options_.findings.empty() ? "--findings '' asks for none" : "the audit was interrupted";
}

problem::result<report> run_audit(audit_options const& given) {
  audit_options options = given;
  if (options.domain) options.outputs = options.domain->outputs;
  auto const before = own_time::now();
  auto domain = domain_of_kernel(options);
  if (!domain) return domain.why();
  // A search whose refusals end the kernel's process takes long: the draws are given what is beyond their fifth.
  std::chrono::duration<double> const beyond =
      own_time::now() - before - std::chrono::duration<double>(options.seconds_of_draws() / 5);
  bool const is_late = !options.budget && beyond.count() > 0;
  if (is_late) options.begun += std::chrono::duration_cast<std::chrono::steady_clock::duration>(beyond);
  if (!options.domain) options.outputs = domain.value().domain.outputs;
  if (domain.value().served) domain.value().served->ask_by(options.outputs);
  auto plan = planned(options, domain.value());
  if (!plan) return plan.why();
  if (is_late) plan.value().late = beyond.count();
  report kernel_report;
  kernel_report.contract = options.claim->name;
  kernel_report.contract_revision = revision_of(*options.claim);
  kernel_report.contracts = {*options.claim};
  kernel_report.not_asked = left_out(options, plan.value());
  if (!options.replay) kernel_report.seed = options.seed;
  kernel_report.replayed = plan.value().replayed;
  if (options.part) kernel_report.shard = {options.part->index, options.part->of};
  kernel_report.options = text_of(options);
  kernel_report.domain = {domain.value().domain.text(), domain.value().from, options.strict_refusals,
                          domain.value().cut_short};
  for (std::string const& sentence : domain.value().says) kernel_report.observations.emplace_back(sentence);
  kernel_report.covered.count_sizes(options.required_support);
  kernel_report.required_support = options.required_support, kernel_report.outside_limit = options.outside;
  if (domain.value().refused_all) kernel_report.refusal = words_of_refusing(domain.value(), options.claim->type);
  audit_session running(options, plan.value(), kernel_report, std::move(domain.value().served));
  if (auto why = running.run()) return *std::move(why);
  in_rows_of_parts(kernel_report);
  return kernel_report;
}

}  // namespace attest::audit
