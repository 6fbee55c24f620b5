// The warning level of docs/bound.md, section 9: it never exceeds the bound, answers that lost keys are suspicious
// where the bound still admits them, and the answers of kernels that people run are not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "audit/contract/contract.hpp"
#include "tests/support/attacked_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/known_kernels.hpp"
#include "tests/support/known_run.hpp"

namespace attest::tests::warning_level_test {
namespace {

constexpr std::int64_t d = 64, dv = 16;

enum class family : std::uint8_t { gaussian, offset, equal_scores, rising_scores, peaked, count };

/// Inputs that a format of 16 bits holds, if `narrow` is one.
written<float> row_of(family kind, std::int64_t m, problem::element_type narrow, unsigned seed) {
  generator random(seed);
  written<float> row(m, d, dv);
  auto const number = [&](double x) {
    return static_cast<float>(audit::rounded_to(x, problem::row_of(narrow).format));
  };
  for (auto& x : row.q.values) x = number(gaussian(random) * (kind == family::peaked ? 4 : 1));
  for (auto& x : row.k.values) x = number(gaussian(random));
  for (auto& x : row.v.values) x = number(gaussian(random) + (kind == family::offset ? 1 : 0));
  if (kind == family::equal_scores)
    for (std::size_t at = static_cast<std::size_t>(d); at < row.k.values.size(); ++at)
      row.k.values[at] = row.k.values[at % static_cast<std::size_t>(d)];
  if (kind == family::rising_scores) {
    std::fill(row.q.values.begin(), row.q.values.end(), 1.0f);
    for (std::size_t j = 0; j < static_cast<std::size_t>(m); ++j)
      for (std::size_t t = 0; t < static_cast<std::size_t>(d); ++t)
        row.k.values[j * static_cast<std::size_t>(d) + t] =
            number(static_cast<double>(j) / static_cast<double>(m) + 0.1 * gaussian(random));
  }
  return row;
}

/// The exact output of the row without its last keys.
double without_last(bound_check<float> const& check, written<float> const& row, std::int64_t lost, std::int64_t c) {
  double kept = 0, sum = 0;
  auto const& keys = check.facts().keys;
  for (std::size_t j = 0; j + static_cast<std::size_t>(lost) < keys.size(); ++j) {
    kept += keys[j].weight_upper;
    sum += keys[j].weight_upper *
           static_cast<double>(row.v.values[j * static_cast<std::size_t>(dv) + static_cast<std::size_t>(c)]);
  }
  return sum / kept;
}

}  // namespace

TEST_CASE("the warning level never exceeds the bound", "[property]") {
  std::set<problem::element_type> types;
  for (auto const& claim : audit::contracts())
    if (!claim.builtin && claim.type != problem::element_type::f64) types.insert(claim.type);
  for (auto const type : types)
    for (int kind = 0; kind < static_cast<int>(family::count); ++kind)
      for (std::int64_t const m : {1, 2, 64, 1024}) {
        bound_check<float> const check(row_of(static_cast<family>(kind), m, type, 5));
        for (auto const& claim : audit::contracts()) {
          if (claim.builtin || claim.type != type) continue;
          auto const bound = check.bound(claim.fixed);
          for (std::int64_t c = 0; c < dv; ++c) {
            auto const allowed = check.output_bound(bound, c);
            INFO(claim.name << ", family " << kind << ", " << m << " keys, column " << c);
            CHECK(allowed.warning <= allowed.size);
            CHECK(allowed.warning > 0);
          }
        }
      }
}

TEST_CASE("answers that lost keys are suspicious where the bound still admits them", "[property]") {
  struct loss {
    char const* contract;
    std::int64_t keys, lost;
  };
  for (auto const& [name, m, lost] : {loss{"f32", 4096, 1},
                                      {"f32-any", 4096, 1},
                                      {"f32-ordered", 16384, 1},
                                      {"bf16", 512, 1},
                                      {"bf16", 4096, 64},
                                      {"bf16-ieee", 4096, 64},
                                      {"f16", 1024, 1},
                                      {"f16", 4096, 8},
                                      {"f16-ieee", 4096, 8}}) {
    auto const& claim = *audit::find_contract(name);
    auto const row = row_of(family::gaussian, m, claim.type, 7);
    bound_check<float> const check(row);
    auto const bound = check.bound(claim.fixed);
    int suspicious = 0, inside = 0;
    for (std::int64_t c = 0; c < dv; ++c) {
      auto const allowed = check.output_bound(bound, c);
      double const error = bound_check<float>::error(without_last(check, row, lost, c), check.output(c));
      inside += error <= allowed.size, suspicious += error <= allowed.size && error > allowed.warning;
    }
    std::fprintf(stderr, "%-12s %5lld keys, %lld lost: of %lld outputs %d inside the bound, %d suspicious\n", name,
                 static_cast<long long>(m), static_cast<long long>(lost), static_cast<long long>(dv), inside,
                 suspicious);
    INFO(name << ", " << m << " keys, " << lost << " lost");
    CHECK(suspicious >= dv / 4);
  }
}

TEST_CASE("no long row of a kernel that people run is suspicious", "[property]") {
  struct asked {
    explicit asked(written<float> const& of) : row(of), check(of) {}
    written<float> row;
    bound_check<float> check;
    directions up{};
  };
  // Many kernels are asked the same row: family, type, softcap, sink, dropout, bias.
  std::map<std::tuple<int, problem::element_type, bool, bool, bool, bool>, asked> rows;
  double worst = 0;
  for (auto const& kernel : known_kernels()) {
    if (kernel.masked || kernel.contract.starts_with("f32-ring") || kernel.contract == "tight")
      continue;  // 63 levels at most
    auto const& claim = *audit::find_contract(kernel.contract);
    ratios seen;
    for (int kind = 0; kind < static_cast<int>(family::count); ++kind) {
      bool const sinks = kernel.sink != sink_place::none, drops = kernel.drops != drop_place::none;
      std::tuple const key{kind, claim.type, kernel.capped, sinks, drops, kernel.biased};
      auto found = rows.find(key);
      if (found == rows.end()) {
        auto row = row_of(static_cast<family>(kind), 1024, claim.type, 3);
        if (kernel.capped) row.softcap = 30;
        if (sinks) row.sink.values = {0.7f};
        if (drops) {
          row.dropout = 0.25;
          for (int j = 0; j < 1024; ++j) row.keep.values.push_back(j % 4 != 1);
        }
        generator random(1);
        if (kernel.biased)
          for (int j = 0; j < 1024; ++j) row.bias.values.push_back(static_cast<float>(gaussian(random) * 3));
        found = rows.try_emplace(key, row).first;
        for (int at = 0; at < 64; ++at) found->second.up.push_back(static_cast<std::uint8_t>(random() & 1));
      }
      auto const& [row, check, up] = found->second;
      seen.merge(judge(kernel, row, check, 64, up));
    }
    INFO(kernel.name << " under " << kernel.contract);
    CHECK(seen.worst() <= 1);
    CHECK(seen.judged > 0);
    if (std::isfinite(kernel.x0())) continue;  // which the warning level does not know of
    CHECK(seen.warning <= 1);
    worst = std::max(worst, seen.warning);
  }
  std::fprintf(stderr, "the largest error is %.3f of the warning level\n", worst);
}

}  // namespace attest::tests::warning_level_test
