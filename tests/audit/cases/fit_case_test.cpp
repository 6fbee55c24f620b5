// Cases inside the domain of a kernel.
#include "audit/cases/domain/fit_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>

#include <catch2/catch.hpp>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/edges.hpp"
#include "audit/cases/families/backward.hpp"

namespace attest::audit::fit_case_test {
namespace {

struct named_domain {
  char const *name, *text;
  int least;  ///< of the quick cases of f32, so many are in the domain
};
constexpr named_domain domains[]{
    {"FlashAttention", "d=64,128 dv=d causal=none,bottom-right scale>0", 450},
    {"Triton tutorial", "d=64,128 dv=d n%128 n>=128 m=n group=1 causal=none,top-left scale>0", 400},
    {"decoding", "d=128 dv=d n=1 group=1,4,8 causal=none scale>0", 400},
    {"MLA", "d=576 dv=512 n>=1 n<=2 kv_heads=1 causal=none,bottom-right scale>0", 400},
    {"a plain function", "d>=1 m>=1 group=1 causal=none scale=default", 300},
    {"even head sizes", "d%2 dv=d n>=1 m>=1 batch=1 kv_heads=2 causal=none,diagonal", 300},
    {"causal squares", "d=64,128 dv=d n%64 m%64 causal=none,square scale=stated", 400},
    {"CUTLASS", "d%8 d<=256 dv=d causal=none,top-left,bottom-right", 750},
    {"prompts, or one query", "d=64,128 dv=d n=1,m m%16 causal=none,bottom-right,window scale>0", 500},
    {"tiles, or one query", "d=64 dv=d n%128,1 n<=4096 m%64 causal=none,square", 400},
    {"padded", "d=64,128 dv=d n%64 m%64 needs=k_lengths", 400},
    {"always masked", "d=64,128 dv=d needs=mask", 400},
    {"packed alone", "d=64,128 dv=d needs=q_offsets,k_offsets", 300},
    {"paged alone", "d=64,128 dv=d needs=k_lengths,block_table", 300},
};

call_domain domain_of(char const* text) {
  auto const read = call_domain::of_text(text);
  REQUIRE(read);
  return read.value();
}

bool takes(call_domain const& domain, audit_case const& made) {
  for (std::size_t at = 0; at <= made.further.size(); ++at)
    if (!domain.takes(made.call(at).draft(), made.call(at).size())) return false;
  return true;
}

}  // namespace

TEST_CASE("a domain and its text are one", "[unit]") {
  for (named_domain const& one : domains) {
    call_domain const domain = domain_of(one.text);
    CHECK(domain_of(domain.text().c_str()) == domain);
  }
  CHECK(call_domain{}.text().empty());
  CHECK(domain_of("").is_everything());
  for (char const* wrong : {"e=64", "d=x", "n?128", "m=k", "causal=left", "scale<0", "d=64 dv=32,64", "d=", "n%0",
                            "needs=dropout", "needs>1", "needs=mask,q_offsets", "needs=mask,k_offsets"}) {
    INFO(wrong);
    CHECK_FALSE(call_domain::of_text(wrong));
  }
}

TEST_CASE("a domain may have one query beside other numbers of them", "[unit]") {
  call_domain const prompts = domain_of("n=1,m m%16"), tiles = domain_of("m>=n n%128,1");
  CHECK(prompts.text() == "n=1,m m%16");
  CHECK(domain_of("n%16 n=1,m") == prompts);
  CHECK(tiles.text() == "n%128,1 m>=n");
  for (char const* with_zero : {"n%128 n>=0", "n>=0 n%128", "n%128,0"}) {
    CHECK((domain_of(with_zero).n.has(0) && !domain_of("n%128").n.has(0)));
    CHECK(domain_of(with_zero).text() == "n%128,0");
  }
  CHECK(domain_of("n%128,0,1 n<=512").text() == "n%128,0,1 n<=512");
  CHECK(domain_of("n>=16,1 m%64").text() == "n>=16,1 m%64");
  for (auto const& [n, m] : {std::pair{1, 16}, {1, 160}, {32, 32}}) CHECK(prompts.takes_lengths(n, m));
  for (auto const& [n, m] : {std::pair{1, 15}, {1, 0}, {2, 32}, {32, 16}}) CHECK_FALSE(prompts.takes_lengths(n, m));
  for (auto const& [n, m] : {std::pair{1, 1}, {128, 129}}) CHECK(tiles.takes_lengths(n, m));
  for (auto const& [n, m] : {std::pair{1, 0}, {64, 129}, {128, 127}}) CHECK_FALSE(tiles.takes_lengths(n, m));
  CHECK((tiles.n.near(0) == 1 && tiles.n.near(2) == 128 && tiles.n.at_most(127) == 1 && !tiles.n.at_most(0)));
}

TEST_CASE("one granule is asked, and each number of granules that the documents name", "[unit]") {
  for (char const* text : {"d=64 dv=d n%128 m=n", "d=64 dv=d n%128 n>=0 m=n"}) {
    std::set<std::int64_t> lengths;
    for (edge_form const& edge : edge_forms(domain_of(text))) lengths.insert(edge.form.size.n);
    CHECK(lengths == std::set<std::int64_t>{128, 256, 384, 640});  // 1024 costs too much
  }
}

TEST_CASE("one query is asked beside each feature and each number of granules of keys", "[unit]") {
  std::set<std::int64_t> keys, of_windows;
  for (edge_form const& edge : edge_forms(domain_of("d=64 dv=d n=1,m m%16 causal=none,bottom-right,window"))) {
    if (edge.form.size.n != 1) continue;
    keys.insert(edge.form.size.m);
    if (edge.form.options.has(feature::window)) of_windows.insert(edge.form.size.m);
  }
  for (std::int64_t const m : {16, 32, 48, 80, 128}) CHECK(keys.contains(m));
  CHECK(of_windows == std::set<std::int64_t>{304});
}

TEST_CASE("a domain that is everything changes no case", "[unit]") {
  for (audit_case const& asked : generated_cases({.quick = true})) {
    fitted_case const fit = fitted(asked, call_domain{});
    REQUIRE(fit.made);
    CHECK(fit.made->problem.draft().q.bytes.data() == asked.problem.draft().q.bytes.data());
  }
}

/// Without numbers a case has the same calls.
void check_sizes(audit_case const& asked, call_domain const& domain, fitted_case const& fit) {
  if (!fits_by_sizes(asked)) return;
  INFO(asked.full_name());
  fitted_case const sizes = fitted_sizes(asked, domain);
  CHECK(sizes.why_not == fit.why_not);
  REQUIRE(sizes.made.has_value() == fit.made.has_value());
  if (!fit.made) return;
  REQUIRE(sizes.made->further.size() == fit.made->further.size());
  CHECK(sizes.made->calls() == fit.made->calls());
  CHECK(sizes.made->rows == fit.made->rows);
  for (std::size_t call = 0; call <= fit.made->further.size(); ++call)
    CHECK(sizes.made->call(call).size() == fit.made->call(call).size());
}

void most_cases_fit(std::span<named_domain const> into) {
  auto cases = generated_cases({.quick = true});
  std::size_t const attention = cases.size();
  std::ranges::move(backward_cases({.quick = true}), std::back_inserter(cases));
  for (named_domain const& one : into) {
    INFO(one.name);
    call_domain const domain = domain_of(one.text);
    int made = 0;
    std::map<std::string, std::pair<int, int>> by_check;
    std::map<std::string, int> reasons;
    for (audit_case const& asked : cases) {
      fitted_case const fit = fitted(asked, domain);
      check_sizes(asked, domain, fit);
      if (&asked >= cases.data() + attention) continue;
      auto& [fit_of, all] = by_check[asked.check];
      ++all;
      if (!fit.made) {
        CHECK_FALSE(fit.why_not.empty());
        ++reasons[fit.why_not];
        continue;
      }
      ++made, ++fit_of;
      INFO(asked.full_name());
      CHECK(takes(domain, *fit.made));
      CHECK_FALSE(calls_fault(*fit.made));
    }
    std::string table;
    for (auto const& [check, counts] : by_check)
      table += check + " " + std::to_string(counts.first) + "/" + std::to_string(counts.second) + ", ";
    for (auto const& [reason, count] : reasons) table += "\n  " + reason + ": " + std::to_string(count);
    INFO(table);
    if (std::getenv("SHOW")) WARN(table);
    CHECK(made >= one.least);
  }
}

TEST_CASE("fitted cases lie in the domain, and most cases fit", "[unit]") {
  most_cases_fit(std::span(domains).first(2));
}

TEST_CASE("cases lie in further domains that they are fitted to, and most fit", "[nightly]") {
  most_cases_fit(std::span(domains).subspan(2));
}

TEST_CASE("a call with a sink is not split: each part would count the sink", "[unit]") {
  auto const parts_in = [](char const* domain) {
    std::ptrdiff_t parts = 0;
    for (audit_case const& asked : generated_cases({.checks = {"split-and-merge"}}))
      if (auto const made = fitted(asked, domain_of(domain)); made.made)
        parts += std::ranges::count(made.made->further, relation::part, &further_call::is);
    return parts;
  };
  CHECK(parts_in("d=64 dv=d needs=bias") > 0);
  CHECK(parts_in("d=64 dv=d needs=sink") == 0);
}

TEST_CASE("the edges of a domain have small groups of query heads, odd ones too, with a band and without", "[unit]") {
  for (bool const banded : {false, true}) {
    std::set<std::int64_t> groups;
    for (edge_form const& edge : edge_forms(domain_of("d=64 dv=d")))
      if (edge.form.options.empty() != banded) groups.insert(edge.form.size.hq / edge.form.size.hk);
    CHECK(groups == std::set<std::int64_t>{1, 3, 4, 7, 8});
  }
}

TEST_CASE("the edges of a domain lie in it, each with a name of its own", "[unit]") {
  std::vector<named_domain> all(std::begin(domains), std::end(domains));
  all.push_back({"everything", "", 0});
  for (named_domain const& one : all) {
    INFO(one.name);
    call_domain const domain = domain_of(one.text);
    auto const forms = edge_forms(domain);
    CHECK(forms.size() >= 20);
    CHECK(forms.size() <= 400);
    std::set<std::string> names;
    for (edge_form const& edge : forms) {
      INFO(edge.name);
      CHECK(names.insert(edge.name).second);
      if (has_any(edge.form, feature_group::entries)) {
        CHECK(domain.takes(edge.form.size));
        continue;
      }
      audit_case const made = edge_case(edge, problem::element_type::f32, 1, {});
      CHECK(takes(domain, made));
    }
  }
}

}  // namespace attest::audit::fit_case_test
