#include "audit/asking/domain/find_domain.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "audit/asking/domain/domain_search.hpp"

namespace attest::audit {
namespace {

using scaling = domain_call::scaling;

/// Calls that only a kernel without limits takes.
constexpr domain_call of_everything[]{
    {{2, 4, 2, 3, 5, 6, 5}, band_form::none, scaling::standard},
    {{2, 4, 2, 3, 5, 6, 5}, band_form::top_left, scaling::stated},
    {{2, 4, 2, 3, 5, 6, 5}, band_form::bottom_right, scaling::standard},
    {{1, 3, 1, 7, 5, 6, 5}, band_form::top_left, scaling::zero},
    {{1, 3, 1, 7, 5, 6, 5}, band_form::bottom_right, scaling::negative},
    {{1, 2, 2, 3, 5, 6, 5}, band_form::diagonal, scaling::other},
    {{1, 2, 2, 7, 9, 6, 5}, band_form::window, scaling::standard},
    {{3, 1, 1, 1, 37, 1, 1}, band_form::none, scaling::standard},
    {{1, 1, 1, 3, 5, 576, 512}, band_form::none, scaling::standard},
    {{1, 1, 1, 130, 1025, 4, 4}, band_form::none, scaling::standard},
    {{1, 2, 2, 0, 5, 6, 5}, band_form::none, scaling::standard},
    {{1, 2, 2, 3, 0, 6, 5}, band_form::none, scaling::standard},
};

}  // namespace

bool domain_search::takes_everything() {
  return std::ranges::all_of(of_everything, [&](domain_call const& call) { return ask_.takes(call); });
}

/// Finds which optional outputs every call, or no call, must ask for: `taken` is asked the other way round.
void domain_search::find_outputs(domain_call const& taken) {
  if (ask_.function() != function_asked::attention) return;
  auto const rule_of = [&](bool asked_outputs::* output) {
    domain_call other = taken;
    bool& asks = other.asks.*output;
    asks = !asks;
    if (!ask_.refuses(other)) return output_asking::as_wanted;
    return asks ? output_asking::never : output_asking::always;
  };
  domain_.outputs.lse = rule_of(&asked_outputs::lse);
  if (domain_.outputs.lse == output_asking::always) ask_.ask_by({.lse = output_asking::always});
  domain_.outputs.weights = rule_of(&asked_outputs::weights);
  ask_.ask_by({});
}

void domain_search::start() {
  problem::sizes const& s = base_.size;
  domain_.n = size_set::only(s.n), domain_.m = size_set::only(s.m), domain_.d = size_set::only(s.d);
  domain_.batch = size_set::only(s.b), domain_.kv_heads = size_set::only(s.hk),
  domain_.group = size_set::only(s.hq / s.hk);
  domain_.dv = s.d == s.dv ? call_domain::value_widths::same : call_domain::value_widths::paired;
  if (s.d != s.dv) domain_.value_width = {s.dv};
  domain_.scale = base_.scale == scaling::standard ? call_domain::scales::standard : call_domain::scales::stated;
  std::ranges::fill(domain_.bands, false);
  take_band(s.n == s.m && base_.band == band_form::bottom_right ? band_form::square : base_.band, true);
  domain_.needs = base_.needs;
  small_ = base_;
}

void domain_search::find_heads() {
  std::int64_t const kv = small_.size.hk, group = small_.size.hq / kv;
  auto const among = [&](std::span<std::int64_t const> asked, auto&& takes, std::int64_t at) {
    ask_.begin_step(1);
    return sizes_among(asked, takes, at, {256, false, [&] { return ask_.is_slow(); }});
  };
  constexpr std::int64_t counts[]{1, 2, 3, 5}, few[]{1, 2, 3, 5, 8};
  constexpr std::int64_t more[]{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 128};
  domain_.kv_heads = among(counts, [&](std::int64_t x) { return takes_heads(small_, group, x); }, kv);
  auto const takes_batch = [&](std::int64_t x) {
    domain_call call = small_;
    call.size.b = x;
    return ask_.takes(call);
  };
  domain_.batch = among(counts, takes_batch, small_.size.b);
  auto const takes_group = [&](std::int64_t x) { return takes_heads(small_, x, kv); };
  bool const takes_few = std::ranges::all_of(few, takes_group);
  domain_.group = takes_few ? size_set{} : among(more, takes_group, group);
}

void domain_search::find_scales() {
  auto const takes = [&](scaling scale) {
    domain_call call = small_;
    call.scale = scale;
    return ask_.takes(call);
  };
  bool const takes_default = takes(scaling::standard), takes_numbers = takes(scaling::other) && takes(scaling::stated);
  using enum call_domain::scales;
  if (!takes_default) domain_.scale = stated;
  else if (!takes_numbers) domain_.scale = standard;
  else domain_.scale = takes(scaling::negative) && takes(scaling::zero) ? any : positive;
}

call_domain domain_search::run() {
  if (takes_everything()) {
    find_outputs(of_everything[0]);
    return domain_;
  }
  ask_.begin_step(2);
  if (ask_.answers().cut_short || !find_base()) return {};
  add_queries_to_base();
  make_base_smaller();
  start();
  ask_.begin_step(2);
  find_outputs(base_);
  ask_.begin_step(4);
  find_lengths();
  for (auto const step :
       {&domain_search::find_widths, &domain_search::find_lengths_of_widths, &domain_search::find_scales,
        &domain_search::find_bands, &domain_search::find_heads, &domain_search::check_corners}) {
    ask_.begin_step(1);
    (this->*step)();
  }
  return domain_;
}

found_domain find_domain(kernel_session& kernel, contract const& claim, std::uint64_t seed, interruption const& when,
                         search_time const& time, std::function<bool()> const& gives_up, function_asked of) {
  domain_questions ask(kernel, claim, seed, when, time, of);
  call_domain const domain = domain_search(ask, gives_up).run();
  return {domain, ask.answers()};
}

namespace {

/// Calls at the edges of a domain: its head sizes, its bands, grouped heads, more keys than queries.
std::vector<domain_call> edges_of(call_domain const& domain) {
  auto const plain = small_call_of(domain);
  if (!plain) return {};
  std::vector<domain_call> calls{*plain};
  auto const add = [&](auto&& change) {
    domain_call call = *plain;
    change(call);
    if (domain.takes(call.size)) calls.push_back(call);
  };
  std::vector<std::int64_t> d = domain.d.listed;
  if (d.empty()) d = {domain.d.near(1), domain.d.near(std::min<std::int64_t>(domain.d.most, 256))};
  for (std::int64_t const x : d)
    if (auto const widths = domain.widths(x, 1))
      add([&](domain_call& call) { std::tie(call.size.d, call.size.dv) = *widths; });
  add([&](domain_call& call) { call.size.hq = call.size.hk * several_heads(domain.group); });
  add([&](domain_call& call) {
    call.size.m = domain.m.near(2 * call.size.m);
    if (domain.queries == call_domain::lengths::equal) call.size.n = call.size.m;
  });
  if (domain.n.one) add([&](domain_call& call) { call.size.n = 1; });
  for (band_form const form : {band_form::none, band_form::top_left, band_form::bottom_right, band_form::window})
    if (domain.takes(form)) add([&](domain_call& call) { call.band = form; });
  return calls;
}

}  // namespace

found_domain find_backward_domain(kernel_session& kernel, contract const& claim, std::uint64_t seed,
                                  interruption const& when, search_time const& time, call_domain const& of_attention) {
  domain_questions ask(kernel, claim, seed, when, time, function_asked::backward);
  bool agrees = true;
  ask.begin_step(1);
  if (!of_attention.is_everything()) {
    std::vector<domain_call> const edges = edges_of(of_attention);
    agrees = !edges.empty() && std::ranges::all_of(edges, [&](domain_call const& call) { return ask.takes(call); });
    if (agrees || !ask.answers().has_function || ask.answers().cut_short) return {of_attention, ask.answers()};
  }
  std::function<bool()> const gives_up = [] { return true; };
  call_domain const domain = domain_search(ask, gives_up).run();
  return {domain, ask.answers()};
}

}  // namespace attest::audit
