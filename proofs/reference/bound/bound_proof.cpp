// reference/bound/bound.hpp: what the bound of docs/bound.md says of special rows, that nothing which stands for an
// error ever narrows it, and that two keys reach it to 0.92. Messages name the lemma by which a parameter enters. (That
// the bound holds is the theorem; tests/reference/bounds_attack_test.cpp attacks it.)
#include "proofs/reference/bound/constant_rows.hpp"

namespace attest::proofs {
namespace {

constexpr double u = 0x1p-24;

/// k_qk = 1, one block, ε = u.
constexpr kernel_model plain(std::int64_t m) noexcept {
  kernel_model model;
  model.format = problem::formats::f32;
  model.k_qk_base = 0, model.u_qk = u, model.eps = u, model.block = m, model.eps_log = u;
  return model;
}

// --- special rows ---------------------------------------------------------------------------------------------------

constexpr auto one_key = facts_of<1>(3, {7}, {5});
constexpr auto one_huge_key = facts_of<1>(0x1p40f, {0x1p40f}, {5});
static_assert(bounds_of(plain(1), one_key).by == judged_by::theorem);
static_assert(bounds_of(plain(1), one_key).o <= 4 * u * 5,
              "Theorem, n = 1: what is left of O is three roundings of its value");
static_assert(bounds_of(plain(1), one_huge_key).o <= 4 * u * 5, "Theorem, n = 1: however large the score is");
static_assert(bounds_of(plain(1), one_key).weight <= 3 * u * 21,
              "Corollary W, n = 1: a weight formed again has its score rounded again");
static_assert(bounds_of(plain(1), one_key).lse <= 3 * u * 21, "Corollary L, n = 1: the LSE is the score, rounded");

constexpr auto equal = facts_of<4>(1, {2, 2, 2, 2}, {1, 1, 1, 1});
constexpr auto equal_far = facts_of<4>(0x1p20f, {2, 2, 2, 2}, {1, 1, 1, 1});
static_assert(bounds_of(plain(4), equal).o <= 12 * u,
              "Lemmas 6, 7, equal scores and values: the rounding of sums and quotient alone");
static_assert(bounds_of(plain(4), equal_far).o <= bounds_of(plain(4), equal).o * (1 + 0x1p-20) + 12 * u,
              "Lemma 7, equal scores and values: the size of the scores does not matter");

constexpr auto zero_query = facts_of<4>(0, {2, -3, 0.5, 7}, {1, -2, 3, 0.125});
constexpr auto no_dimension = facts_of<4>(0, {2, -3, 0.5, 7}, {1, -2, 3, 0.125}, {}, 0);
static_assert(bounds_of(plain(4), no_dimension).o <= 30 * u, "Lemma 1, d = 0: the mean of V, within its own sums");
static_assert(bounds_of(plain(4), no_dimension).weight <= 4 * u,
              "Corollary W, d = 0: weights of 1/4 within a few roundings");
static_assert(none_below(bounds_of(plain(4), zero_query), bounds_of(plain(4), no_dimension)),
              "Lemma 1: d = 0 is no worse than a query of zeros");
static_assert(bounds_of(plain(4), zero_query).o <= bounds_of(plain(4), no_dimension).o * 1.25,
              "Lemma 1: a query of zeros costs no more than the roundings of its d zeros");

constexpr auto no_values = facts_of<4>(1, {2, -3, 0.5, 7}, {0, 0, 0, 0});
static_assert(bounds_of(plain(4), no_values).o <= 0x1p-140, "Lemma 6, V = 0: only underflow is left");

constexpr auto ordinary = facts_of<4>(1.5, {1, -0.25, 0.5, 2}, {1, -2, 3, 0.125}, {0.5, 0, -1, 0.25});
constexpr auto ordinary_scaled =
    facts_of<4>(1.5, {1, -0.25, 0.5, 2}, {0x1p20f, -0x1p21f, 3 * 0x1p20f, 0x1p17f}, {0.5, 0, -1, 0.25});
constexpr auto shuffled = facts_of<4>(1.5, {2, 0.5, -0.25, 1}, {0.125, 3, -2, 1}, {0.25, -1, 0, 0.5});
constexpr double scaled_by = bounds_of(plain(4), ordinary_scaled).o / bounds_of(plain(4), ordinary).o;
static_assert(scaled_by > 0x1p20 * (1 - 0x1p-40) && scaled_by <= 0x1p20 * (1 + 0x1p-40),
              "Theorem: 2^20·V has 2^20 times the bound");
constexpr double reordered = bounds_of(plain(4), shuffled).o / bounds_of(plain(4), ordinary).o;
static_assert(reordered > 1 - 0x1p-40 && reordered < 1 + 0x1p-40, "section 3: the order of the keys does not matter");

// --- monotonicity ---------------------------------------------------------------------------------------------------

constexpr auto spread = facts_of<4>(1, {20, 0, -60, 19}, {1, 100, -3, 2}, {-5, 3, 0, 1});

/// On both rows no bound is narrower after `change`, and on one of them one is wider.
template <class Change>
constexpr bool widens(Change&& change, kernel_model before = plain(2)) {
  kernel_model after = before;
  change(after);
  auto const a = bounds_of(after, ordinary), b = bounds_of(before, ordinary);
  auto const c = bounds_of(after, spread), d = bounds_of(before, spread);
  return none_below(a, b) && none_below(c, d) && (one_above(a, b) || one_above(c, d));
}
constexpr kernel_model split(problem::split_merge how) {
  kernel_model model = plain(2);
  model.splits = 2, model.merge = how;
  return model;
}

static_assert(widens([](kernel_model& m) { m.format.u *= 2; }), "u: γ_k, section 1");
static_assert(widens([](kernel_model& m) { m.format.omega = 0x1p-40; }), "omega: H0, Lemma 6");
static_assert(widens([](kernel_model& m) { m.format.omega_w = 0x1p-30, m.format.far = 20; }),
              "omega_W, below e^-20: Lemma 3");
static_assert(widens([](kernel_model& m) { m.k_qk_base += 1; }), "k_qk: Lemma 1");
static_assert(widens([](kernel_model& m) { m.k_qk_per_d += 1; }), "k_qk per d: Lemma 1");
static_assert(widens([](kernel_model& m) { m.u_qk *= 2; }), "u_qk: Lemma 1");
static_assert(widens([](kernel_model& m) { m.fold_q = true, m.format.omega = 0x1p-40; },
                     [] {
                       auto m = plain(2);
                       m.format.omega = 0x1p-40;
                       return m;
                     }()),
              "a folded scale: Lemma 1");
static_assert(widens([](kernel_model& m) { m.k_add += 1; }), "k_add: Lemma 1");
static_assert(widens([](kernel_model& m) { m.g_b += 0x1p-22; }), "g_b: Lemma 1");
static_assert(widens([](kernel_model& m) { m.u_s += 0x1p-22; }), "u_s: Lemma 1");
static_assert(widens([](kernel_model& m) { m.omega_s += 0x1p-22; }), "omega_s: Lemma 1");
static_assert(widens([](kernel_model& m) { m.k_x += 1; }), "k_x: Lemma 3");
static_assert(widens([](kernel_model& m) { m.c_m += 1; }), "c_m: Lemma 3");
static_assert(widens([](kernel_model& m) { m.eps += u; }), "epsilon: Lemma 3");
static_assert(widens([](kernel_model& m) { m.block = 1; }), "blocks: more rescales, Lemma 2");
static_assert(widens([](kernel_model& m) { m.rescales = problem::rescale_count::rank_of_score; }, plain(4)),
              "unknown blocks: Lemma 2");
static_assert(widens([](kernel_model& m) { m.tau += 1; }), "tau: Lemma 3");
static_assert(widens([](kernel_model& m) { m.x0 = 2; }), "x0: Lemma 3");
static_assert(widens([](kernel_model& m) { m.u_p += 0x1p-12; }), "u_p: Lemma 6");
static_assert(widens([](kernel_model& m) { m.u_v = 0x1p-12; }), "u_v: Lemma 6");
static_assert(widens([](kernel_model& m) { m.u_p = 0x1p-12, m.omega_p = 0x1p-30; }), "omega_p: Lemma 6");
static_assert(widens([](kernel_model& m) { m.u_p = 0x1p-12, m.omega_p = 0x1p-30, m.p_shared = true; }), "u_p in l");
static_assert(widens([](kernel_model& m) { m.height = problem::sum_height::in_sequence; },
                     [] {
                       auto m = plain(2);
                       m.height = problem::sum_height::block_local;
                       return m;
                     }()),
              "one chain: Lemma 6");
static_assert(widens([](kernel_model& m) { m.k_pre += 1; }), "k_pre: Lemma 6");
static_assert(widens([](kernel_model& m) { m.u_pv = 4 * u; }), "u_pv: Lemma 6");
static_assert(widens([](kernel_model& m) { m.splits += 1; }), "splits: Lemma 6");
static_assert(widens([](kernel_model& m) { m.parts_are_keys = true; }), "each key a part, raw: Lemma 6");
static_assert(widens([](kernel_model& m) { m.parts_are_keys = true; }, split(problem::split_merge::lse_normalised)),
              "each key a part, by LSE: Lemma 4");
static_assert(widens([](kernel_model& m) { m.u_state = 0x1p-12; }, split(problem::split_merge::lse)),
              "u_state: Lemma 4");
static_assert(widens([](kernel_model& m) { m.omega_state = 0x1p-25; }, split(problem::split_merge::lse)),
              "omega_state");
static_assert(widens([](kernel_model& m) { m.k_block = 2; }), "k_block: Lemma 6, divisions");
static_assert(widens([](kernel_model& m) { m.merge = problem::split_merge::lse; }, split(problem::split_merge::raw)),
              "merging by LSE: Lemma 4");
static_assert(widens([](kernel_model& m) { m.merge = problem::split_merge::lse_normalised; },
                     split(problem::split_merge::raw)),
              "merging by LSE without a division: Lemma 4");
static_assert(widens([](auto& m) { m.merge = problem::split_merge::logsigmoid; }, split(problem::split_merge::sigmoid)),
              "Lemma 8");
static_assert(widens([](kernel_model& m) { m.k_f += 1; }), "k_f: Theorem");
static_assert(widens([](kernel_model& m) { m.u_out = 0x1p-11; }), "u_out: Theorem");
static_assert(widens([](kernel_model& m) { m.omega_out = 0x1p-25; }), "omega_out: Theorem, Corollary W, Clause H");
static_assert(widens([](kernel_model& m) { m.eps_log += u; }), "epsilon_log: Corollary L");

/// `of` with its last key, which has no product, as a sink, or with dropout of 1 − 1/factor.
template <std::size_t M>
constexpr facts<M> with_sink(facts<M> of) {
  of.row.has_sink = true, of.v[M - 1] = 0;
  of.keys[M - 1].index = reference::sink_index;
  return of;
}
template <std::size_t M>
constexpr facts<M> dropped(facts<M> of, double factor) {
  of.row.drops = true, of.row.kept_factor = factor;
  return of;
}
constexpr auto before_sink = facts_of<4>(1, {1, -0.25, 0.5, 0}, {1, -2, 3, 0}, {0.5, 0, -1, 2});
constexpr auto beside_sink = with_sink(before_sink);
constexpr kernel_model sinking = [] {
  kernel_model model = plain(2);
  model.k_t = 0, model.k_lse = 3, model.k_x = 4, model.k_drop = 0;
  return model;
}();
static_assert(
    [] {
      auto const a = bounds_of(sinking, beside_sink), b = bounds_of(sinking, before_sink);
      return a.o >= b.o && a.weight >= b.weight && a.lse > b.lse && a.hull >= b.hull && a.row_sum <= b.row_sum;
    }(),
    "Theorem T1: wherever a sink is added, it costs at least a key of its bias; but it is none of the returned "
    "weights");
template <class Change>
constexpr bool widens_beside(facts<4> const& row, Change&& change) {
  kernel_model after = sinking;
  change(after);
  auto const a = bounds_of(after, row), b = bounds_of(sinking, row);
  return none_below(a, b) && one_above(a, b) && bounds_of(after, before_sink).o == bounds_of(sinking, before_sink).o;
}
static_assert(widens_beside(beside_sink, [](kernel_model& m) { m.k_t = 60; }), "k_t: Theorem T1");
static_assert(widens_beside(beside_sink, [](kernel_model& m) { m.u_t = 0x1p-8; }), "u_t: Theorem T1");
static_assert(widens_beside(beside_sink, [](kernel_model& m) { m.omega_t = 0x1p-10; }), "omega_t: Theorem T1");
static_assert(
    [] {
      auto limited = sinking;
      limited.sink_limit = 1;
      return bounds_of(limited, beside_sink).by == judged_by::theorem &&
             bounds_of(limited, with_sink(facts_of<2>(1, {0, 0}, {1, 0}, {0, 2}))).by == judged_by::nothing;
    }(),
    "H0: sink_limit");
// Theorem T2. LSE_K = ln(e^1.5 + e^-0.25 + e^-0.5) is 1.7693…, and t is 2.
constexpr bounds bounds_behind(kernel_model const& model) {
  auto row = row_of(beside_sink);
  row.keys_alone = {row_of(facts_of<3>(1, {1, -0.25, 0.5}, {1, -2, 3}, {0.5, 0, -1}))};
  row.sink_above_lower = 0.2306, row.sink_above_upper = 0.2308;
  return bounds_of_row(model, beside_sink, row);
}
template <class Change>
constexpr bool widens_behind(Change&& change, problem::sink_form form = problem::sink_form::rescale) {
  kernel_model before = sinking;
  before.sink_form = form;
  auto after = before;
  change(after);
  auto const a = bounds_behind(after), b = bounds_behind(before);
  return none_below(a, b) && one_above(a, b) && b.by == judged_by::theorem;
}
constexpr auto may_be_either = [](kernel_model& m) { m.sink_form = problem::sink_form::any; };
static_assert(widens_behind(may_be_either, problem::sink_form::term) &&
                  none_below(bounds_behind([] {
                               auto m = sinking;
                               return may_be_either(m), m;
                             }()),
                             bounds_behind([] {
                               auto m = sinking;
                               return m.sink_form = problem::sink_form::rescale, m;
                             }())),
              "sink_form any: the larger of T1 and T2");
static_assert(widens_behind([](kernel_model& m) { m.k_sink += 1; }), "k_sink: Theorem T2");
static_assert(widens_behind([](kernel_model& m) { m.u_sink = 0x1p-8; }), "u_sink: Theorem T2");
static_assert(widens_behind([](kernel_model& m) { m.omega_sink = 0x1p-25; }), "omega_sink: Theorem T2");
static_assert(widens_behind([](kernel_model& m) { m.x0 = 12; }), "x0: Theorem T2");
static_assert(widens_behind([](kernel_model& m) { m.k_t = 60; }), "k_t: Theorem T2");
static_assert(widens_behind([](kernel_model& m) { m.eps += u; }), "epsilon: Theorem T2");
static_assert(widens_behind([](kernel_model& m) { m.eps_log += u; }), "epsilon_log: Theorem T2");
static_assert(bounds_of(
                  [] {
                    auto m = sinking;
                    return m.sink_form = problem::sink_form::rescale, m;
                  }(),
                  beside_sink)
                      .by == judged_by::nothing,
              "T2 judges nothing where the row without its sink is not known");
constexpr auto half_dropped = dropped(before_sink, 2);
static_assert(none_below(bounds_of(sinking, half_dropped), bounds_of(sinking, before_sink)) &&
                  bounds_of(sinking, half_dropped).o >= 2 * bounds_of(sinking, before_sink).o,
              "Theorem T3: the factor of dropout multiplies the bound");
static_assert(widens_beside(half_dropped, [](kernel_model& m) { m.k_drop = 3; }), "k_drop: Theorem T3");
static_assert(widens_beside(half_dropped, [](kernel_model& m) { m.u_drop = 0x1p-9; }), "u_drop: Theorem T3");
static_assert(widens_beside(half_dropped, [](kernel_model& m) { m.omega_drop = 0x1p-25; }), "omega_drop: Theorem T3");
static_assert(widens([](kernel_model& m) { m.k_lse += 1; }), "k_lse: Corollary L");

// To first order a rounding more costs what Lemma 3 and Corollary L say.
constexpr bounds of_spread(int kernel_model::* field, int value) {
  kernel_model model = plain(4);
  model.*field = value;
  return bounds_of(model, spread);
}
static_assert(of_spread(&kernel_model::k_lse, 3).lse - of_spread(&kernel_model::k_lse, 2).lse > 1.99 * u * 20,
              "Corollary L, k_lse: u·|LSE| and u·|m| for each rounding");
constexpr double first_weight = spread.keys[0].weight_lower;
static_assert(of_spread(&kernel_model::c_m, 1).weight - of_spread(&kernel_model::c_m, 0).weight >
                  0.99 * first_weight * u * 20,
              "Lemma 3, c_m: u·|m| for each rounding of the reference");
static_assert(of_spread(&kernel_model::k_x, 5).weight - of_spread(&kernel_model::k_x, 4).weight >
                  0.99 * first_weight * u * 5,
              "Lemma 3, k_x: u·|s - m| for each rounding of the exponent");
static_assert(
    [] {
      kernel_model lazy = plain(4), eager = plain(4);
      lazy.tau = 8, lazy.k_x = eager.k_x = 4;
      return bounds_of(lazy, spread).weight - bounds_of(eager, spread).weight > 0.99 * first_weight * 4 * u * 2 * 8;
    }(),
    "Lemma 3, tau: exponents may be tau larger, of the key and of the reference");

constexpr kernel_model flushing = [] {
  kernel_model model = plain(4);
  model.format = problem::formats::f32_flushed, model.flushes = true;
  return model;
}();
static_assert(none_below(bounds_of(flushing, ordinary), bounds_of(plain(4), ordinary)) &&
                  bounds_of(flushing, no_values).o > bounds_of(plain(4), no_values).o,
              "Lemma 6: flushing to zero, which only underflow feels");

/// The same of what is known about the row: a wider enclosure or a larger size never narrows a bound.
template <class Change>
constexpr bool widens_facts(Change&& change) {
  kernel_model model = plain(2);
  model.k_add = 1, model.g_b = u, model.c_m = 1, model.k_lse = 3, model.fold_q = true, model.format.omega = 0x1p-40;
  auto wider = ordinary;
  change(wider);
  auto const a = bounds_of(model, wider), b = bounds_of(model, ordinary);
  return none_below(a, b) && one_above(a, b);
}
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.x_lower -= 0.5;
              }),
              "scores that may lie lower: X_j, Lemma 3");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.x_upper += 0x1p-10;
              }),
              "scores that may lie higher: M⁺, Lemma 3");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.score_upper *= 2;
              }),
              "|s|: E_j, Lemma 1");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.product_upper *= 2;
              }),
              "|q|·|k|: S_j, Lemma 1");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.key_norm *= 2;
              }),
              "the norm of k: Lemma 1");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.bias *= 2;
              }),
              "|b|: Lemma 1");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.weight_upper += 0x1p-10;
              }),
              "weights that may be larger: π_j, Lemma 7");
static_assert(widens_facts([](auto& f) {
                for (auto& k : f.keys) k.weight_lower *= 0.5;
              }),
              "weights that may be smaller: D, Lemma 5");
static_assert(widens_facts([](auto& f) { f.o.radius = f.o.radius + reference::magnitude::power_of_two(-20); }),
              "the radius of o: E7");
static_assert(widens_facts([](auto& f) { f.row.max_upper *= 2; }), "|m|: Y_j, Lemma 3");
static_assert(widens_facts([](auto& f) { f.row.lse_upper *= 2; }), "|LSE|: Corollary L");
static_assert(widens_facts([](auto& f) { f.row.m += 1; }), "an invisible key: one more block, Lemma 2");

// --- hypotheses -----------------------------------------------------------------------------------------------------

static_assert(bounds_of(plain(2), facts_of<2>(1, {1, 2}, {3e38f, 2})).by == judged_by::nothing,
              "H0: n·max|v| overflows");
static_assert(bounds_of(plain(2), facts_of<2>(1e30f, {1e10f, 2}, {1, 2})).by == judged_by::nothing,
              "H0: a score overflows");
static_assert(
    [] {
      auto coarse = plain(2);
      coarse.format.u = coarse.u_qk = 0x1p-5;
      return bounds_of(coarse, facts_of<2>(1, {1, 2}, {1, 2})).by == judged_by::nothing;
    }(),
    "H4: sums too long for the format");
static_assert(
    [] {
      auto stored = plain(4);  // |s| = 60 and E of about 60·u: |s| + E lies between both limits
      stored.s_limit = 60 * (1 + 0x1p-25);
      bool const refused = bounds_of(stored, spread).by == judged_by::nothing;
      stored.s_limit = 60 * (1 + 0x1p-22);
      return refused && bounds_of(stored, spread).by != judged_by::nothing;
    }(),
    "H0: a stored score may be E above its exact value");
/// Section 3 of two keys with the scores 0 and −10 in a format of eight bits.
constexpr reference::row_terms terms_of_two(int k_x, double far, problem::split_merge merge, int levels) {
  kernel_model model = plain(2);
  model.format.u = 0x1p-8, model.format.far = far, model.k_x = k_x, model.merge = merge, model.merge_levels = levels;
  constexpr auto two = facts_of<2>(0, {0, 0}, {1, 1}, {0, -10}, 0);
  reference::row_facts all;
  static_cast<reference::row_scalars&>(all) = two.row;
  all.keys.assign(two.keys.begin(), two.keys.end());
  row_bound bound;
  bound.evaluate(model, all);
  return bound.terms();
}
static_assert(terms_of_two(4, 10.15, problem::split_merge::raw, 1).n_far == 1 &&
                  terms_of_two(4, 10.17, problem::split_merge::raw, 1).n_far == 0,
              "Lemma 3: an argument of exp may be (1 + γ_{k_x})X_j long, γ_{k_x} = 1/63");
static_assert(terms_of_two(8, 87, problem::split_merge::lse_normalised, 1).judged &&
                  !terms_of_two(8, 87, problem::split_merge::lse_normalised, 2).judged,
              "H4: Γ_L of two merges by LSE exceeds 1");
static_assert(
    [] {
      // Key 32 is above all; of the keys 0, 64 and 128 each is above the one before: two records in lanes, else one.
      std::vector<double> score(129, 0.0), records(129, 0.0);
      reference::record_memory memory;
      score[32] = 9, score[0] = 1, score[64] = 2, score[128] = 3;
      reference::records_of(score, score, records, [](std::size_t j) { return j; }, memory);
      return records[0] == 2;
    }(),
    "section 3, Rescales: records in lanes of the index modulo 64");
static_assert(reference::gamma(1, 0.5) >= 1 && reference::gamma(2, 0.5) == reference::infinity &&
                  reference::gamma(3, 0.5) == reference::infinity,
              "section 1: gamma is infinite at its pole and past it, never negative");

// --- reached --------------------------------------------------------------------------------------------------------

/// e^x rounded to float. Requires an x whose enclosure rounds to one float.
constexpr float exp_of(float x) {
  number const e = exp(number::from(reference::value_of(x)));
  auto const low = static_cast<float>(reference::lower(e)), high = static_cast<float>(reference::upper(e));
  return low == high ? low : static_cast<float>(reference::infinity);
}

// Two keys, V = (0, 1): the kernel of docs/bound.md, section 11, in float, every operation rounded, against the exact
// answer.
constexpr float q = 0x1.78097ap+2f, k0 = 0x1.62f85ep+2f, k1 = -0x1.67da26p+2f;
constexpr float s0 = q * k0, s1 = q * k1, p1 = exp_of(s1 - s0), l = 1 + p1, kernel_says = p1 / l;
constexpr auto two_keys = facts_of<2>(q, {k0, k1}, {0, 1});
constexpr double error = reference::upper_size(number::from(reference::value_of(kernel_says)) - two_keys.o);
constexpr bounds two_keys_bounds = bounds_of(plain(2), two_keys);
static_assert(two_keys_bounds.by == judged_by::theorem);
static_assert(error <= two_keys_bounds.o, "Theorem: an honest kernel is inside its bound");
static_assert(error >= 0.92 * two_keys_bounds.o,
              "section 11: and reaches 0.92 of it, the bound has little to give away");

}  // namespace
}  // namespace attest::proofs
