// NaN, infinities, masks, empty rows and the other cases of docs/semantics.md, "Gradients": both tiers say the same.
#include <cmath>
#include <limits>

#include "tests/reference/gradient/honest.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::kinds_test {
using reference::gradient, reference::gradient_mode, reference::value_kind;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr value_kind finite = value_kind::finite, is_nan = value_kind::nan, not_finite = value_kind::not_finite,
                     open = value_kind::unspecified;

/// Two rows, three keys, d = dv = 2; row 0 sees keys 0 and 1, row 1 sees keys 1 and 2.
gradient_case two_rows() {
  draw random(3);
  gradient_case c;
  c.size = {.b = 1, .hq = 1, .hk = 1, .n = 2, .m = 3, .d = 2, .dv = 2};
  for (auto [list, count] : {std::pair{&c.q, 4}, std::pair{&c.k, 6}, std::pair{&c.v, 6}, std::pair{&c.d_o, 4}})
    for (int n = 0; n < count; ++n) list->push_back(audit::number(static_cast<float>(random.gaussian())));
  c.mask = {1, 1, 0, 0, 1, 1};
  c.bias_shape = {1, 1, 2, 3};
  c.bias.assign(6, 0.25);
  return c;
}

struct found_kinds {
  std::vector<reference::gradient_element> dq, dk, dv, dbias, dsink;
};

/// The elements of both tiers, which agree on every kind; bounds of row-wise gradients.
found_kinds kinds_of(gradient_case const& c) {
  stored_case<float> const stored(c);
  REQUIRE(stored.instance);
  auto const models = models_of({}, c);
  auto source = std::move(reference::gradient_source<float>::make(*stored.instance, stored.inputs(), models.forward,
                                                                  models.backward, gradient_mode::own))
                    .value();
  auto const& group = source.group(0, 0);
  found_kinds found{group.of_q, group.of_k, group.of_v, source.dbias().element, source.dsink().element};
  auto const compare = [&](gradient which, std::array<std::int64_t, 4> shape, auto const& elements) {
    std::vector<reference::gradient_index> wanted;
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2]; ++i)
        for (std::int64_t x = 0; x < shape[3]; ++x) wanted.push_back({which, 0, h, i, x});
    auto const balls =
        reference::compiled::enclose_gradients<128>(*stored.instance, stored.inputs(), gradient_mode::own, wanted);
    REQUIRE(balls.size() == elements.size());
    for (std::size_t n = 0; n < balls.size(); ++n) {
      CAPTURE(static_cast<int>(which), n);
      CHECK(balls[n].kind == elements[n].kind);
      if (balls[n].kind != finite || !(elements[n].bound < INFINITY)) continue;
      CHECK(reference::lower(balls[n].value) <= elements[n].upper);
      CHECK(elements[n].lower <= reference::upper(balls[n].value));
    }
  };
  auto const& s = c.size;
  compare(gradient::dq, {1, 1, s.n, s.d}, found.dq);
  compare(gradient::dk, {1, 1, s.m, s.d}, found.dk);
  compare(gradient::dv, {1, 1, s.m, s.dv}, found.dv);
  if (!c.bias.empty()) compare(gradient::dbias, c.bias_shape, found.dbias);
  if (!c.sink.empty()) compare(gradient::dsink, {1, 1, 1, 1}, found.dsink);
  return found;
}
/// The kinds of a list, one letter each: f, n, i (not finite), o (open), 0 (nothing contributes).
std::string letters(std::vector<reference::gradient_element> const& list) {
  std::string text;
  for (auto const& x : list)
    text += x.no_terms ? '0' : x.kind == finite ? 'f' : x.kind == is_nan ? 'n' : x.kind == not_finite ? 'i' : 'o';
  return text;
}

}  // namespace

TEST_CASE("what is hidden is not read", "[unit]") {
  auto c = two_rows();
  auto const clean = kinds_of(c);
  CHECK(letters(clean.dq) == "ffff");
  CHECK(letters(clean.dbias) == "ff00ff");
  c.mask = {1, 1, 0, 1, 1, 0};
  c.k[4] = c.v[5] = no_number, c.bias[2] = c.bias[5] = INFINITY;
  auto const found = kinds_of(c);
  CHECK(letters(found.dk) == "ffff00");
  CHECK(letters(found.dv) == "ffff00");
  for (auto const& x : found.dk) CHECK((x.no_terms ? x.bound == 0 : x.bound < INFINITY));
}

TEST_CASE("a row without a key contributes nothing, and is not read", "[unit]") {
  auto c = two_rows();
  c.mask = {1, 1, 0, 0, 0, 0};
  c.q[2] = c.d_o[3] = no_number;
  auto const found = kinds_of(c);
  CHECK(letters(found.dq) == "ff00");
  CHECK(letters(found.dk) == "ffff00");
  CHECK(letters(found.dbias) == "ff0000");
  c.sink = {0.5};
  CHECK(letters(kinds_of(c).dsink) == "f");
  c.mask = {0, 0, 0, 0, 0, 0};
  CHECK(letters(kinds_of(c).dsink) == "0");
}

TEST_CASE("the only key of a row has dS = 0", "[unit]") {
  auto c = two_rows();
  c.mask = {1, 0, 0, 0, 1, 1};
  auto const found = kinds_of(c);
  for (std::size_t t = 0; t < 2; ++t) {
    CHECK(found.dq[t].lower <= 0);
    CHECK(found.dq[t].upper >= 0);
    CHECK(found.dq[t].upper - found.dq[t].lower < 0x1p-900);
    CHECK(found.dq[t].bound > 0);
  }
}

TEST_CASE("NaN in a score makes a NaN row", "[unit]") {
  auto c = two_rows();
  c.sink = {0.5};
  c.q[0] = no_number;
  auto found = kinds_of(c);
  CHECK(letters(found.dq) == "nnff");
  CHECK(letters(found.dk) == "nnnnff");
  CHECK(letters(found.dv) == "nnnnff");
  CHECK(letters(found.dbias).substr(0, 2) == "nn");
  CHECK(letters(found.dsink) == "n");
  c = two_rows();
  c.bias[5] = INFINITY;  // a score of +∞
  found = kinds_of(c);
  CHECK(letters(found.dq) == "ffnn");
  CHECK(letters(found.dk) == "ffnnnn");
}

TEST_CASE("NaN in V leaves dV alone", "[unit]") {
  auto c = two_rows();
  c.v[0] = no_number;
  auto const found = kinds_of(c);
  CHECK(letters(found.dq) == "nnff");
  CHECK(letters(found.dk) == "nnnnff");
  CHECK(letters(found.dv) == "ffffff");
  CHECK(letters(found.dbias) == "nn00ff");
  for (auto const& x : found.dv) CHECK(x.bound < INFINITY);
}

TEST_CASE("NaN and infinities in dO", "[unit]") {
  auto c = two_rows();
  c.d_o[0] = no_number;
  auto found = kinds_of(c);
  CHECK(letters(found.dq) == "nnff");
  CHECK(letters(found.dk) == "nnnnff");
  CHECK(letters(found.dv) == "nfnfff");
  c.d_o[0] = INFINITY;
  found = kinds_of(c);
  CHECK(letters(found.dq) == "iiff");
  CHECK(letters(found.dv) == "ififff");
  c.bias[0] = -INFINITY;  // key 0 has no weight
  found = kinds_of(c);
  CHECK(letters(found.dv) == "o0ifff");
  CHECK(letters(found.dk) == "ooiiff");
}

TEST_CASE("infinities in K and Q beside finite scores are left open", "[unit]") {
  auto c = two_rows();
  c.k[0] = c.q[0] < 0 ? INFINITY : -INFINITY;  // a score of −∞
  auto const found = kinds_of(c);
  CHECK(letters(found.dq) == "offf");
  CHECK(letters(found.dk) == "00ffff");
  CHECK(letters(found.dv) == "00ffff");
}

TEST_CASE("a sink of NaN, of infinity, of minus infinity", "[unit]") {
  auto c = two_rows();
  c.sink = {no_number};
  CHECK(letters(kinds_of(c).dq) == "nnnn");
  c.sink = {INFINITY};
  CHECK(letters(kinds_of(c).dsink) == "n");
  c.sink = {-INFINITY};
  auto const found = kinds_of(c);
  CHECK(letters(found.dq) == "ffff");
  CHECK(letters(found.dsink) == "0");
}

TEST_CASE("dropped keys", "[unit]") {
  auto c = two_rows();
  c.keep = {0, 1, 1, 1, 1, 1}, c.parameters.dropout = 0.5;
  CHECK(letters(kinds_of(c).dq) == "ffff");
  c.v[0] = no_number;
  auto const found = kinds_of(c);
  CHECK(letters(found.dq) == "ooff");
  CHECK(letters(found.dv) == "ffffff");
}

TEST_CASE("no columns of K or V, a scale of 0", "[unit]") {
  auto c = two_rows();
  c.size.dv = 0, c.v.clear(), c.d_o.clear();
  auto found = kinds_of(c);
  for (auto const& x : found.dq) CHECK(std::max(-x.lower, x.upper) < 1e-300);
  c = two_rows();
  c.size.d = 0, c.q.clear(), c.k.clear(), c.parameters.scale = 1.0;
  found = kinds_of(c);
  CHECK(found.dq.empty());
  CHECK(letters(found.dv) == "ffffff");
  c = two_rows();
  c.parameters.scale = 0.0;
  found = kinds_of(c);
  for (auto const& x : found.dk) CHECK(std::abs(x.upper) < 1e-300);
}

TEST_CASE("what a mode rests on must be there", "[unit]") {
  auto const c = two_rows();
  stored_case<float> const stored(c);
  auto const models = models_of({}, c);
  auto const make = [&](auto const& inputs, gradient_mode mode) {
    return reference::gradient_source<float>::make(*stored.instance, inputs, models.forward, models.backward, mode);
  };
  auto inputs = stored.inputs();
  CHECK(make(inputs, gradient_mode::own));
  for (auto const mode : {gradient_mode::recorded, gradient_mode::local}) {
    auto const without = make(inputs, mode);
    REQUIRE(!without);
    CHECK(without.why().argument == "lse");
  }
  std::vector<float> const lse(2, 1.0F), o(4, 1.0F);
  inputs.lse = stored_case<float>::rows(lse, {1, 1, 2, 1});
  CHECK(make(inputs, gradient_mode::recorded).why().argument == "o");
  inputs.o = stored_case<float>::rows(o, {1, 1, 2, 2});
  CHECK(make(inputs, gradient_mode::recorded));
  CHECK(make(inputs, gradient_mode::local));
  inputs.d_o = {};
  CHECK(make(inputs, gradient_mode::own).why().argument == "do");
}

TEST_CASE("an LSE far below the scores leaves local mode open", "[unit]") {
  auto const c = two_rows();
  stored_case<float> const stored(c);
  auto const models = models_of({}, c);
  std::vector<float> const lse{-1e30F, 0.5F}, o(4, 1.0F);
  auto inputs = stored.inputs();
  inputs.lse = stored_case<float>::rows(lse, {1, 1, 2, 1}), inputs.o = stored_case<float>::rows(o, {1, 1, 2, 2});
  std::vector<reference::gradient_index> const wanted{
      {gradient::dq, 0, 0, 0, 0}, {gradient::dq, 0, 0, 1, 0}, {gradient::dv, 0, 0, 0, 0}, {gradient::dv, 0, 0, 2, 0}};
  auto const balls =
      reference::compiled::enclose_gradients<128>(*stored.instance, inputs, gradient_mode::local, wanted);
  CHECK((balls[0].kind == open && balls[1].kind == value_kind::finite && balls[2].kind == open &&
         balls[3].kind == value_kind::finite));
  auto source = std::move(reference::gradient_source<float>::make(*stored.instance, inputs, models.forward,
                                                                  models.backward, gradient_mode::local))
                    .value();
  auto const& group = source.group(0, 0);
  CHECK(group.dq_at(0, 0, 0).bound == INFINITY);
  CHECK(group.dq_at(0, 1, 0).bound < INFINITY);
  CHECK(group.dv_at(0, 0).bound == INFINITY);
  CHECK(group.dv_at(2, 0).bound < INFINITY);
}

}  // namespace attest::tests::kinds_test
