// Rows for bound_from_text.py: kernel models and facts drawn at random, and what reference/bound/ evaluates for them.
//
//   bound_rows ROWS SEED [KIND]    KIND: tied, rows of proofs/coq/formula.v alone; known, models that declare weights
//
// One line a datum, its first word says which; numbers are hexadecimal floats. docs/bound.md, section 12, names the
// facts and the terms.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/contract/contract_fields.hpp"
#include "tests/reference/drawn_rows.hpp"

namespace {

using namespace attest;
using namespace attest::tests;

// --- what is printed ------------------------------------------------------------------------------------------------

void number(char const* name, double x) { std::printf(" %s=%a", name, x); }

/// Prints every field of a model, words and flags as whole numbers.
struct field_printer {
  std::string prefix{};

  void number(char const* name, double x, audit::range const&) const {
    std::printf(" %s%s=%a", prefix.c_str(), name, x);
  }
  void count(char const* name, std::int64_t x, audit::range const&) const {
    std::printf(" %s%s=%lld", prefix.c_str(), name, static_cast<long long>(x));
  }
  void flag(char const* name, bool x) const { std::printf(" %s%s=%d", prefix.c_str(), name, x ? 1 : 0); }
  template <class Words>
  void word(char const* name, Words const& words, std::size_t at) const {
    std::printf(" %s=%s", name, words[at]);
  }
  template <class Inside>
  void object(char const* name, Inside&& inside) {
    field_printer within{std::string(name) + "."};
    inside(within);
  }
  template <class Added>
  void optional(Added&& added) {
    added(*this);
  }
};

void print_facts(row_facts const& facts, std::string const& word = "") {
  std::printf("%s d=%lld m=%lld nonzero=%lld finite_products=%d", word.empty() ? "facts" : word.c_str(),
              static_cast<long long>(facts.d), static_cast<long long>(facts.m), static_cast<long long>(facts.nonzero),
              facts.finite_products ? 1 : 0);
  number("scale_upper", facts.scale_upper), number("softcap", facts.softcap), number("query_norm", facts.query_norm);
  number("max_upper", facts.max_upper), number("normaliser_lower", facts.normaliser_lower);
  number("lse_upper", facts.lse_upper), number("lse_above_max", facts.lse_above_max);
  number("lost_upper", facts.lost_upper), number("lost_norm", facts.lost_norm);
  std::printf(" has_sink=%d drops=%d", facts.has_sink ? 1 : 0, facts.drops ? 1 : 0);
  number("kept_factor", facts.kept_factor);
  std::printf("\n");
  for (auto const& key : facts.keys) {
    std::printf("%skey index=%lld", word.empty() ? "" : (word + "_").c_str(), static_cast<long long>(key.index));
    number("x_lower", key.x_lower), number("x_upper", key.x_upper), number("score_upper", key.score_upper);
    number("product_upper", key.product_upper), number("key_norm", key.key_norm), number("bias", key.bias);
    number("weight_lower", key.weight_lower), number("weight_upper", key.weight_upper);
    std::printf("\n");
  }
}

void print_bound(reference::error_bound const& bound) {
  number("size", bound.size);
  std::printf(" by=%d dull=%d", static_cast<int>(bound.by), bound.dull ? 1 : 0);
}

/// o_c of a column: its midpoint, a double, and a power of two that exceeds what the facts leave open.
void print_column(reference::row_bound const& bound, row_facts const& facts, std::vector<double> const& values) {
  double mid = 0, open = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    auto const& key = facts.keys[j];
    mid += values[j] * (key.weight_lower + key.weight_upper) / 2;
    open += std::abs(values[j]) * (key.weight_upper - key.weight_lower + 0x1p-48 * key.weight_upper);
  }
  int const exponent = open > 0 ? std::ilogb(open) + 1 : -1070;
  auto o = reference::ball<128>::from(reference::value_of(mid));
  o.radius = reference::magnitude::power_of_two(exponent);
  auto const found = bound.output(o, [&](std::size_t j) { return reference::value_of(values[j]); });
  std::printf("column");
  number("mid", mid), number("radius", std::ldexp(1.0, exponent));
  print_bound(found);
  number("unrounded", found.unrounded), number("warning", found.warning);
  number("keys_above", found.keys_above), number("keys_below", found.keys_below);
  number("known_center", found.known_center), number("known_size", found.known_size);
  std::printf("\nvalues");
  for (double const v : values) std::printf(" %a", v);
  std::printf("\n");
}

void print_terms(reference::row_terms const& t) {
  std::printf("terms judged=%d theorem_holds=%d padded=%d sharpest=%d", t.judges(), t.theorem_holds, t.padded,
              t.theorem_is_sharpest);
  number("max_above", t.max_above), number("max_below", t.max_below), number("largest_E", t.largest_E);
  number("R", t.R), number("least_sum", t.least_sum), number("omega_w", t.omega_w), number("n_far", t.n_far);
  number("D_lower", t.D_lower), number("one_minus_D", t.one_minus_D), number("sum_P", t.sum_P);
  number("height", t.height), number("height_O", t.height_O), number("gamma_L", t.gamma_L),
      number("nodes_L", t.nodes_L), number("gamma_F", t.gamma_F);
  number("gamma_h", t.gamma_h), number("gamma_O", t.gamma_O), number("eta_extra", t.eta_extra);
  number("log_hull", t.log_hull), number("ell", t.ell), number("far_limit", t.far_limit);
  std::printf("\n");
}

void print_row(kernel_model const& model, drawn_row const& row) {
  std::printf("model");
  kernel_model shown = model;
  field_printer printer;
  audit::visit_model(shown, printer);
  std::printf(" k_t=%d k_drop=%d", model.k_t, model.k_drop);
  number("u_t", model.u_t), number("omega_t", model.omega_t), number("sink_limit", model.sink_limit);
  number("u_drop", model.u_drop), number("omega_drop", model.omega_drop);
  std::printf("\n");
  print_facts(row.facts);
  for (row_facts const& alone : row.facts.keys_alone) {
    print_facts(alone, "alone");
    std::printf("gap lower=%a upper=%a\n", row.facts.sink_above_lower, row.facts.sink_above_upper);
  }
  reference::row_bound bound;
  bound.evaluate(model, row.facts);
  print_terms(bound.terms());
  for (auto const& values : row.values) print_column(bound, row.facts, values);
  std::printf("weights");
  for (std::size_t j = 0; j < row.facts.keys.size(); ++j) {
    auto const found = bound.weight(j);
    std::printf(" %a:%d:%d", found.size, static_cast<int>(found.by), found.dull ? 1 : 0);
  }
  std::printf("\nlse");
  print_bound(bound.log_sum_exp());
  std::printf("\nrow_sum");
  print_bound(bound.row_sum());
  std::printf("\nhull");
  for (double const largest : {0.0, 1.0, 1e30}) std::printf(" %a:%a", largest, bound.hull_margin(largest));
  std::printf("\nend\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::span<char*> const arguments(argv, static_cast<std::size_t>(argc));
  if (arguments.size() != 3 && arguments.size() != 4)
    return std::fprintf(stderr, "usage: bound_rows ROWS SEED [tied|known]\n"), 2;
  std::string_view const kind = arguments.size() == 4 ? arguments[3] : "";
  long const rows = std::strtol(arguments[1], nullptr, 10);
  generator random{std::mt19937_64(std::strtoull(arguments[2], nullptr, 10))};
  std::vector<std::pair<std::string, kernel_model>> presets;
  for (auto const& contract : audit::contracts())
    if (!contract.builtin) presets.emplace_back(contract.name, contract.fixed);
  for (long at = 0; at < rows; ++at) {
    if (!kind.empty()) {
      bool const tied = kind == "tied";
      std::printf("row %ld %s\n", at, arguments[3]);
      auto const model = tied ? tied_model(random) : declared_model(random);
      print_row(model, tied ? tied_facts(random) : plain_facts(random));
      continue;
    }
    auto const preset = static_cast<std::size_t>(at / 2) % presets.size();
    bool const named = at % 2 == 0;
    std::printf("row %ld %s\n", at, named ? presets[preset].first.c_str() : "random");
    print_row(named ? presets[preset].second : random_model(random),
              random.chance(0.7) ? random_facts(random) : problem_facts(random));
  }
}
