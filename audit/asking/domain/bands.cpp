// The bands that a kernel takes, and what it takes together: bands, widths, heads, scales.
#include <algorithm>

#include "audit/asking/domain/domain_search.hpp"

namespace attest::audit {

domain_search::shapes domain_search::shapes_of(domain_call const& like) const {
  shapes found;
  auto const with = [&](std::int64_t n, std::int64_t m) {
    domain_call call = like;
    call.size.n = n, call.size.m = m;
    return call;
  };
  std::optional<std::int64_t> x = domain_.n.at_least(like.size.n);
  for (int tries = 0; x && !domain_.m.has(*x) && tries < 8; ++tries) {
    x = domain_.m.at_least(*x);
    if (x) x = domain_.n.at_least(*x);
  }
  if (x && domain_.m.has(*x)) found.square = with(*x, *x);
  using enum call_domain::lengths;
  if (domain_.times > 1) found.square.reset();
  if (domain_.queries == equal) {
    std::int64_t const m = domain_.m.near(std::max<std::int64_t>(like.size.m, 2));
    if (domain_.n.one && m > 1) found.wide = with(1, m);
    return found;
  }
  std::int64_t const keys = std::max({like.size.m, like.size.n + 1, domain_.keys_for(like.size.n)});
  if (auto const m = domain_.m.at_least(keys); m && domain_.queries != no_more_keys) found.wide = with(like.size.n, *m);
  if (domain_.queries == no_more_queries) return found;
  std::int64_t const m = domain_.m.near(1);
  if (auto const n = domain_.n.at_least(std::max(m + 1, domain_.queries_for(m)))) found.tall = with(*n, m);
  return found;
}

bool domain_search::takes_band(std::initializer_list<std::optional<domain_call>> calls, band_form form) {
  bool any = false;
  for (std::optional<domain_call> call : calls) {
    if (!call) continue;
    call->band = form, any = true;
    if (!ask_.takes(*call)) return false;
  }
  return any;
}

void domain_search::find_bands() {
  using enum band_form;
  auto const [wide, tall, square_] = shapes_of(small_);
  // Beside n = m, one query alone has more keys. Then it tells whether both forms of causal are taken.
  bool const only_square = domain_.queries == call_domain::lengths::equal || (!wide && !tall);
  take_band(none, takes_band({only_square ? square_ : wide ? wide : tall}, none));
  take_band(square, takes_band({square_}, top_left));
  bool const in_square = !only_square || domain_.takes(square), apart = wide || tall;
  take_band(top_left, in_square && (!apart || takes_band({wide, tall}, top_left)));
  take_band(bottom_right, in_square && apart && takes_band({wide, tall}, bottom_right));
  if (!domain_.takes(top_left) && !domain_.takes(bottom_right) && wide && tall)
    for (band_form const form : {bottom_right, top_left})
      if (takes_band({wide}, form)) {
        take_band(form, true);
        domain_.queries = call_domain::lengths::no_more_queries;
        break;
      }
  take_band(square, domain_.takes(square) || domain_.takes(top_left) || domain_.takes(bottom_right));
  for (band_form const form : {diagonal, window})
    take_band(form, only_square ? takes_band({square_}, form) : takes_band({wide, tall}, form));
}

domain_call domain_search::banded(domain_call const& like, band_form form) const {
  shapes const of = shapes_of(like);
  std::optional<domain_call> const& unequal = of.wide ? of.wide : of.tall;
  bool const is_causal = form == band_form::top_left || form == band_form::bottom_right;
  bool const in_square =
      form == band_form::square || (domain_.queries == call_domain::lengths::equal && !is_causal) || !unequal;
  domain_call call = !in_square ? *unequal : of.square ? *of.square : like;
  call.band = form == band_form::square ? band_form::top_left : form;
  return call;
}

void domain_search::check_corners() {
  std::vector<domain_call> corners;
  for (auto const& [d, dv] : widths()) {
    corners.push_back(small_);
    corners.back().size.d = d, corners.back().size.dv = dv;
  }
  // Heads and entries, together.
  domain_call many = small_;
  many.size.hk = domain_.kv_heads.near(2);
  many.size.hq = many.size.hk * several_heads(domain_.group);
  if (!takes_heads(many, many.size.hq / many.size.hk, many.size.hk)) {
    domain_.kv_heads.listed = {small_.size.hk};
    many.size.hk = small_.size.hk, many.size.hq = small_.size.hq;
  }
  many.size.b = domain_.batch.near(2);
  if (!ask_.takes(many)) domain_.batch.listed = {small_.size.b}, many.size.b = small_.size.b;
  corners.push_back(many);
  for (std::size_t at = 0; at < band_form_count; ++at) {
    auto const form = static_cast<band_form>(at);
    if (!domain_.takes(form)) continue;
    if (form == band_form::square && (domain_.takes(band_form::top_left) || domain_.takes(band_form::bottom_right)))
      continue;
    take_band(form,
              std::ranges::all_of(corners, [&](domain_call const& like) { return ask_.takes(banded(like, form)); }));
    domain_call scaled = banded(small_, form);
    scaled.scale = domain_call::scaling::other;
    bool const is_scaled = domain_.scale == call_domain::scales::any || domain_.scale == call_domain::scales::positive;
    if (is_scaled && domain_.takes(form) && !ask_.takes(scaled)) domain_.scale = call_domain::scales::standard;
  }
}

}  // namespace attest::audit
