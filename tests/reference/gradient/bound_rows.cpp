// Problems and models drawn at random, with the bounds that reference/gradient/ finds, as JSON: one problem a line.
// bound_from_text.py evaluates docs/bound_backward.md for the same.
//
// usage: gradient_bound_rows COUNT SEED
#include <cstdio>
#include <cstdlib>
#include <string>

#include "reference/gradient/row.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/workspace.hpp"
#include "tests/reference/gradient/honest.hpp"

using namespace attest;
using namespace attest::tests;
using reference::gradient_mode;

namespace {

bool first_field = true;
void name(char const* field) {
  std::printf("%s\"%s\": ", first_field ? "" : ", ", field);
  first_field = false;
}
void field(char const* key, double x) { name(key), std::printf("\"%a\"", x); }
template <class List>
void list(char const* key, List const& values) {
  name(key), std::printf("[");
  bool comma = false;
  for (auto const x : values) std::printf("%s\"%a\"", comma ? ", " : "", static_cast<double>(x)), comma = true;
  std::printf("]");
}

/// Each field mostly at its default.
honest_models drawn_models(draw& random) {
  honest_models m;
  auto& f = m.forward;
  auto& b = m.backward;
  auto const maybe = [&](auto& to, auto value) {
    if (random.chance(0.3)) to = value;
  };
  f.format = random.chance(0.3) ? problem::formats::f32_flushed : problem::formats::f32;
  f.flushes = f.format.omega == problem::formats::f32_flushed.omega;
  if (random.chance(0.2)) f.format.omega = 0x1p-40;  // beside u = 2⁻²⁴ each term of ω shows
  f.eps = 0x1p-22, f.eps_log = 0x1p-22, f.rescales = problem::rescale_count::none;
  f.sink_form = problem::sink_form::term;
  maybe(f.k_qk_base, 5), maybe(f.k_qk_per_d, 2), maybe(f.u_qk, 0x1p-22), maybe(f.fold_q, true), maybe(f.fold_k, true);
  maybe(f.bias_first, true), maybe(f.k_add, 2), maybe(f.g_b, 0x1p-21), maybe(f.e_c, 0x1p-20), maybe(f.a_t, 0x1p-21);
  maybe(f.u_s, 0x1p-9), maybe(f.omega_s, 0x1p-134), maybe(f.u_t, 0x1p-9), maybe(f.k_t, 2);
  maybe(f.u_p, 0x1p-8), maybe(f.u_v, 0x1p-9), maybe(f.omega_p, 0x1p-20), maybe(f.k_drop, 5), maybe(f.u_drop, 0x1p-9),
      maybe(f.omega_drop, 0x1p-22), maybe(f.u_rate, 0x1p-20);
  maybe(f.u_out, 0x1p-9), maybe(f.omega_out, 0x1p-40);
  using problem::backward_delta, problem::backward_weights;
  b.weights = static_cast<backward_weights>(random.whole(0, 2));
  b.delta = static_cast<backward_delta>(random.whole(0, 2));
  maybe(b.k_x, 4), maybe(b.c_l, 2), maybe(b.eps, 0x1p-20), maybe(b.u_lse, 0x1p-16), maybe(b.x0, 20.0);
  maybe(b.one_pass, true), maybe(b.same_terms, true);
  if (b.one_pass && random.chance(0.5))
    f.returned_weights = problem::returned_weights::rounded, f.omega_p = 0x1p-20, f.omega_out = 0x1p-40;
  maybe(b.u_pd, 0x1p-9), maybe(b.omega_pd, 0x1p-30), maybe(b.k_dp_base, 3), maybe(b.k_dp_per_dv, 2),
      maybe(b.u_dp, 0x1p-22);
  maybe(b.u_dps, 0x1p-9), maybe(b.omega_dps, 0x1p-30), maybe(b.delta_shared, false), maybe(b.delta_first, true);
  maybe(b.k_delta, 3), maybe(b.u_delta, 0x1p-10), maybe(b.omega_delta, 0x1p-30), maybe(b.k_e, 2), maybe(b.k_ds, 4);
  maybe(b.u_ds, 0x1p-9), maybe(b.omega_ds, 0x1p-25), maybe(b.ds_scaled, true), maybe(b.k_g, 6), maybe(b.u_acc, 0x1p-22),
      maybe(b.k_scale, 4);
  maybe(b.k_dv, 2), maybe(b.u_head, 0x1p-8), maybe(b.omega_head, 0x1p-25), maybe(b.part_keys, std::int64_t{2});
  maybe(b.part_rows, std::int64_t{2}), maybe(b.u_grad, 0x1p-8), maybe(b.omega_grad, 0x1p-25);
  if (random.chance(0.3)) b.height = problem::sum_height::block_local, b.block = random.whole(1, 3);
  if (random.chance(0.2)) b.stored_limit = 65504;
  return m;
}

void print_models(honest_models const& m) {
  auto const& f = m.forward;
  auto const& b = m.backward;
  name("forward"), std::printf("{"), first_field = true;
  field("u", f.format.u), field("omega", f.format.omega), field("far", f.format.far),
      field("omega_w", f.format.omega_w);
  field("limit", f.format.h0_limit), field("flushes", f.flushes), field("k_qk_base", f.k_qk_base);
  field("k_qk_per_d", f.k_qk_per_d), field("u_qk", f.u_qk), field("fold_q", f.fold_q), field("fold_k", f.fold_k);
  field("bias_first", f.bias_first), field("k_add", f.k_add), field("g_b", f.g_b), field("e_c", f.e_c);
  field("a_t", f.a_t), field("u_s", f.u_s), field("omega_s", f.omega_s), field("k_t", f.k_t), field("u_t", f.u_t);
  field("omega_t", f.omega_t), field("u_p", f.u_p), field("u_v", f.u_v), field("omega_p", f.omega_p),
      field("eps", f.eps);
  field("u_out", f.u_out), field("omega_out", f.omega_out), field("k_drop", f.k_drop), field("u_drop", f.u_drop),
      field("omega_drop", f.omega_drop), field("u_rate", f.u_rate);
  std::printf("}"), first_field = false;
  name("backward"), std::printf("{"), first_field = true;
  field("weights", static_cast<double>(b.weights)), field("delta", static_cast<double>(b.delta)), field("k_x", b.k_x);
  field("c_l", b.c_l), field("eps", b.eps), field("u_lse", b.u_lse), field("x0", b.x0), field("u_pd", b.u_pd);
  field("omega_pd", b.omega_pd), field("k_dp_base", b.k_dp_base), field("k_dp_per_dv", b.k_dp_per_dv);
  field("u_dp", b.u_dp), field("u_dps", b.u_dps), field("omega_dps", b.omega_dps);
  field("one_pass", b.one_pass), field("same_terms", b.same_terms);
  field("delta_shared", b.delta_shared), field("delta_first", b.delta_first), field("k_delta", b.k_delta);
  field("u_delta", b.u_delta), field("omega_delta", b.omega_delta), field("k_e", b.k_e), field("k_ds", b.k_ds);
  field("u_ds", b.u_ds), field("omega_ds", b.omega_ds), field("ds_scaled", b.ds_scaled), field("k_g", b.k_g);
  field("block", b.height == problem::sum_height::block_local ? static_cast<double>(b.block) : 0);
  field("u_acc", b.u_acc), field("k_scale", b.k_scale), field("k_dv", b.k_dv), field("u_head", b.u_head);
  field("omega_head", b.omega_head), field("part_keys", static_cast<double>(b.part_keys));
  field("part_rows", static_cast<double>(b.part_rows)), field("u_grad", b.u_grad), field("omega_grad", b.omega_grad);
  field("stored_limit", b.stored_limit);
  std::printf("}"), first_field = false;
}

/// Section 4, of every row: λ_f, B_c, C_j over all keys (0 where a key has none); no row: an infinite λ_f.
void print_forward(problem::instance<float> const& p, problem::kernel_model const& model) {
  auto const& s = p.size();
  auto rows = std::move(reference::machine::row_source<float>::make(p, model, {.weights = true})).value();
  std::vector<double> lse, outputs, weights, row_sums;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      rows.each(b, h, 0, s.n, [&](reference::machine::certified_row const& row) {
        bool const known = !row.handed_over && row.terms->judges();
        row_sums.push_back(known ? row.terms->gamma_L : INFINITY);
        row_sums.push_back(known ? row.terms->gamma_W : INFINITY);
        row_sums.push_back(known ? row.terms->lost_weight : INFINITY);
        lse.push_back(known ? row.lse_bound.size : INFINITY);
        for (std::int64_t e = 0; e < s.dv; ++e)
          outputs.push_back(known ? row.o_bound[static_cast<std::size_t>(e)] : INFINITY);
        std::vector<double> of_keys(static_cast<std::size_t>(s.m) + 1, 0.0);
        if (known)
          for (std::size_t at = 0; at < row.keys.size(); ++at)
            of_keys[static_cast<std::size_t>(row.keys[at])] = row.weight_bound[at];
        if (known && row.terms->has_sink) of_keys.back() = row.memory->keys.weight_bound[row.keys.size()];
        weights.insert(weights.end(), of_keys.begin(), of_keys.end());
      });
  list("row_sums", row_sums), list("lse_bounds", lse), list("output_bounds", outputs), list("weight_bounds", weights);
}

/// What the program knows of a row: midpoints and radii.
struct known_rows {
  std::vector<reference::gradient_row> rows;

  void print() const {
    name("rows"), std::printf("[");
    bool comma = false;
    for (auto const& row : rows) {
      std::printf("%s{", comma ? ", " : ""), comma = first_field = true;
      list("at", std::vector{row.b, row.h, row.i});
      std::vector<std::int64_t> j;
      std::vector<double> x_lower, x_upper, score;
      for (auto const& key : row.keys)
        j.push_back(key.j == reference::sink_index ? -1 : key.j), x_lower.push_back(key.numbers.x_lower),
            x_upper.push_back(key.numbers.x_upper), score.push_back(key.numbers.score_upper);
      list("j", j), list("x_lower", x_lower), list("x_upper", x_upper), list("score", score);
      using reference::enclosure, reference::gradient_key;
      auto const pairs = [&](char const* key, auto const& all, auto const& of) {
        std::vector<double> both;
        for (auto const& each : all) both.push_back(of(each).mid), both.push_back(of(each).off);
        list(key, both);
      };
      pairs("weight", row.keys, [](gradient_key const& k) { return k.weight; });
      pairs("product", row.keys, [](gradient_key const& k) { return k.product; });
      pairs("y", row.keys, [](gradient_key const& k) { return k.y; });
      pairs("slope", row.keys, [](gradient_key const& k) { return k.slope; });
      pairs("tanh", row.keys, [](gradient_key const& k) { return k.tanh; });
      pairs("dS", row.keys, [](gradient_key const& k) { return k.dS; });
      pairs("dX", row.keys, [](gradient_key const& k) { return k.dX; });
      pairs("o", row.o, [](enclosure const& x) { return x; });
      pairs("row", std::vector{row.lse, row.recorded_lse, row.delta}, [](enclosure const& x) { return x; });
      field("lse_above_max", row.scalars.lse_above_max), field("normaliser_lower", row.scalars.normaliser_lower);
      field("judged", row.judged);
      std::printf("}"), first_field = false;
    }
    std::printf("]");
  }
};

/// The bound of each element, and its enclosure.
void elements(std::string const& key, std::vector<reference::gradient_element> const& all) {
  std::vector<double> bound, lower, upper;
  for (auto const& x : all) bound.push_back(x.bound), lower.push_back(x.lower), upper.push_back(x.upper);
  list(key.c_str(), bound), list((key + "_lower").c_str(), lower), list((key + "_upper").c_str(), upper);
}

void print_case(draw& random) {
  auto const features = static_cast<unsigned>(random.whole(0, 511)) & ~128U;
  auto of = static_cast<family>(random.whole(0, last_family));
  if (of == family::giant_scores) of = family::gaussian;  // handed over to balls, whose forward bounds are not printed
  auto const c = drawn_case<float>(random, of, features, 4);
  stored_case<float> const stored(c);
  auto const& p = *stored.instance;
  auto const& s = c.size;
  auto models = drawn_models(random);
  auto const mode = static_cast<gradient_mode>(random.whole(0, 2));
  auto const answer = honest_run({}, c)();
  std::vector<float> o(answer.o.begin(), answer.o.end()), lse(answer.lse.begin(), answer.lse.end());
  auto inputs = stored.inputs();
  inputs.o = stored_case<float>::rows(o, {s.b, s.hq, s.n, s.dv});
  inputs.lse = stored_case<float>::rows(lse, {s.b, s.hq, s.n, 1});
  auto source =
      std::move(reference::gradient_source<float>::make(p, inputs, models.forward, models.backward, mode)).value();

  std::printf("{"), first_field = true;
  for (auto [key, size] : {std::pair{"b", s.b}, std::pair{"hq", s.hq}, std::pair{"hk", s.hk}, std::pair{"n", s.n},
                           std::pair{"m", s.m}, std::pair{"d", s.d}, std::pair{"dv", s.dv}})
    field(key, static_cast<double>(size));
  field("mode", static_cast<double>(mode)), field("has_scale", c.parameters.scale.has_value()),
      field("scale", c.scale());
  field("softcap", c.parameters.softcap), field("dropout", c.parameters.dropout);
  field("right", static_cast<double>(c.parameters.band.right));
  field("diagonal", static_cast<double>(c.parameters.band.diagonal));
  list("q", c.q), list("k", c.k), list("v", c.v), list("d_o", c.d_o), list("mask", c.mask), list("keep", c.keep);
  list("bias", c.bias), list("bias_shape", c.bias_shape), list("sink", c.sink), list("o", o), list("lse", lse);
  print_models(models);
  print_forward(p, models.forward);
  known_rows known;
  source.observe([&](reference::gradient_row const& row) { known.rows.push_back(row); });
  std::vector<reference::gradient_element> dq, dk, dv;
  auto const append = [](auto& to, auto const& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t g = 0; g < s.hk; ++g) {
      auto const& group = source.group(b, g);
      append(dq, group.of_q), append(dk, group.of_k), append(dv, group.of_v);
    }
  known.print();
  elements("dq", dq), elements("dk", dk), elements("dv_", dv);
  elements("dbias", source.dbias().element), elements("dsink", source.dsink().element);
  std::printf("}\n");
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  draw random(static_cast<std::uint64_t>(std::atoll(words[2])));
  for (int n = 0; n < std::atoi(words[1]); ++n) print_case(random);
}
