// Problems and models drawn at random, with the bounds that reference/gradient/ finds, as JSON: one problem a line.
// bound_from_text.py evaluates docs/bound_backward.md for the same.
//
// usage: gradient_bound_rows COUNT SEED
#include <cstdio>
#include <cstdlib>
#include <string>

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
  f.eps = 0x1p-22, f.eps_log = 0x1p-22, f.rescales = problem::rescale_count::none;
  f.sink_form = problem::sink_form::term;
  maybe(f.k_qk_base, 5), maybe(f.k_qk_per_d, 2), maybe(f.u_qk, 0x1p-22), maybe(f.fold_q, true), maybe(f.fold_k, true);
  maybe(f.bias_first, true), maybe(f.k_add, 2), maybe(f.g_b, 0x1p-21), maybe(f.e_c, 0x1p-20), maybe(f.a_t, 0x1p-21);
  maybe(f.u_s, 0x1p-9), maybe(f.omega_s, 0x1p-134), maybe(f.u_t, 0x1p-9), maybe(f.k_t, 2);
  maybe(f.u_p, 0x1p-8), maybe(f.omega_p, 0x1p-20), maybe(f.k_drop, 5), maybe(f.u_rate, 0x1p-20);
  using problem::backward_delta, problem::backward_weights;
  b.weights = static_cast<backward_weights>(random.whole(0, 2));
  b.delta = static_cast<backward_delta>(random.whole(0, 2));
  maybe(b.k_x, 4), maybe(b.c_l, 2), maybe(b.eps, 0x1p-20), maybe(b.u_lse, 0x1p-16), maybe(b.x0, 20.0);
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
  field("omega_t", f.omega_t), field("u_p", f.u_p), field("omega_p", f.omega_p), field("eps", f.eps);
  field("k_drop", f.k_drop), field("u_drop", f.u_drop), field("u_rate", f.u_rate);
  std::printf("}"), first_field = false;
  name("backward"), std::printf("{"), first_field = true;
  field("weights", static_cast<double>(b.weights)), field("delta", static_cast<double>(b.delta)), field("k_x", b.k_x);
  field("c_l", b.c_l), field("eps", b.eps), field("u_lse", b.u_lse), field("x0", b.x0), field("u_pd", b.u_pd);
  field("omega_pd", b.omega_pd), field("k_dp_base", b.k_dp_base), field("k_dp_per_dv", b.k_dp_per_dv);
  field("u_dp", b.u_dp), field("u_dps", b.u_dps), field("omega_dps", b.omega_dps);
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
  std::vector<double> lse, outputs, weights;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      rows.each(b, h, 0, s.n, [&](reference::machine::certified_row const& row) {
        bool const known = !row.handed_over && row.terms->judges();
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
  list("lse_bounds", lse), list("output_bounds", outputs), list("weight_bounds", weights);
}

void print_case(draw& random) {
  auto const features = static_cast<unsigned>(random.whole(0, 511)) & ~128U;
  auto of = static_cast<family>(random.whole(0, last_family));
  if (of == family::giant_scores) of = family::gaussian;  // the machine tier knows these within more than 2⁻⁴⁰
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
  std::vector<double> dq, dk, dv, dbias, dsink;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t g = 0; g < s.hk; ++g) {
      auto const& group = source.group(b, g);
      for (auto const& x : group.of_q) dq.push_back(x.bound);
      for (auto const& x : group.of_k) dk.push_back(x.bound);
      for (auto const& x : group.of_v) dv.push_back(x.bound);
    }
  for (auto const& x : source.dbias().element) dbias.push_back(x.bound);
  for (auto const& x : source.dsink().element) dsink.push_back(x.bound);
  list("dq", dq), list("dk", dk), list("dv_", dv), list("dbias", dbias), list("dsink", dsink);
  std::printf("}\n");
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  draw random(static_cast<std::uint64_t>(std::atoll(words[2])));
  for (int n = 0; n < std::atoi(words[1]); ++n) print_case(random);
}
