// The order of axes and the parameters of a recorded file, and the way to a file and back.
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "audit/files/problem_file.hpp"
#include "tests/audit/files/file_builder.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::recorded_layout_test {
namespace {

using namespace attest::audit;
namespace problem = attest::problem;
using problem::element_type;

bool same(owned_tensor const& a, owned_tensor const& b) {
  return a.type == b.type && a.layout.rank == b.layout.rank && a.layout.shape == b.layout.shape && a.bytes == b.bytes;
}

}  // namespace

/// A problem of rank 4: b = 1, h = 2, n = 3, m = 4, d = dv = 5, with its axes in this order.
file_builder with_heads(bool heads_inside) {
  auto const shape = [&](std::int64_t rows) {
    return heads_inside ? std::vector<std::int64_t>{1, rows, 2, 5} : std::vector<std::int64_t>{1, 2, rows, 5};
  };
  file_builder builder;
  builder.add("q", "F32", shape(3)).add("k", "F32", shape(4)).add("v", "F32", shape(4)).add("o", "F32", shape(3));
  for (auto& bytes : *builder.owned)
    for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<std::byte>(n / 4);
  return builder;
}

TEST_CASE("an O in [b, n, h, d] is known as one", "[unit]") {
  for (bool const heads_inside : {false, true}) {
    auto builder = with_heads(heads_inside).key("attest.layout", heads_inside ? "bhnd" : "bnhd");
    builder.add("q", "F32", with_heads(!heads_inside).file.tensors["q"].shape);
    builder.add("k", "F32", with_heads(!heads_inside).file.tensors["k"].shape);
    builder.add("v", "F32", with_heads(!heads_inside).file.tensors["v"].shape);
    auto const read = problem_file_of(builder.file);
    REQUIRE(read);
    auto const& only = read.value().problems.at(0);
    CHECK(only.problem.size().hq == 2);
    REQUIRE(only.unusable.size() == 1);
    REQUIRE(only.unusable[0].in_other_order);
    CHECK(only.unusable[0].in_other_order->layout.shape == std::array<std::int64_t, 4>{1, 2, 3, 5});
  }
}

TEST_CASE("a file may have its heads inside: layout bnhd", "[unit]") {
  CHECK(refusal(with_heads(true).key("attest.layout", "bnhd").key("attest.layout", "hbnd")) ==
        "attest.layout: is 'hbnd', expected bhnd or bnhd or thd or nbhd (bhsd, bshd and sbhd are known, too)");
  auto const read = problem_file_of(with_heads(true).key("attest.layout", "bnhd").file);
  REQUIRE(read);
  auto const& only = read.value().problems.at(0);
  CHECK(only.unusable.empty());
  auto const& s = only.problem.size();
  CHECK((s.hq == 2 && s.n == 3 && s.m == 4));
  // Head 1 of query 2 begins at element (2·2 + 1)·5 of the file.
  auto const& q = only.problem.draft().q;
  CHECK(q.layout.stride == std::array<std::int64_t, 4>{30, 5, 10, 1});
  CHECK(q.bytes[4 * (1 * 5 + 2 * 10)] == std::byte{25});
  // And back.
  auto const bytes = problem_file_bytes(read.value().problems);
  REQUIRE(bytes);
  auto const file = parse_safetensors(bytes.value());
  REQUIRE(file);
  CHECK(file.value().tensors.at("q").shape == std::vector<std::int64_t>{1, 3, 2, 5});
  CHECK(std::ranges::equal(file.value().tensors.at("o").bytes, with_heads(true).file.tensors.at("o").bytes));
  CHECK(file.value().metadata.at("attest.layout") == "bnhd");
}

TEST_CASE("what is written is read by Python's int and float, and old hex floats are still read", "[unit]") {
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {1, 1});
  draft.k = draft.v = draft.q;
  draft.scale = 0.1, draft.softcap = 0x1p-1074, draft.band = {-3, 4, -1};
  problem_file_entry const entry{.prefix = "x", .problem = owned_problem::of_valid(draft)};
  auto const bytes = problem_file_bytes(std::span(&entry, 1));
  REQUIRE(bytes);
  auto const metadata = parse_safetensors(bytes.value()).value().metadata;
  CHECK(metadata == safetensors_metadata{{"x.scale", "0.1"},
                                         {"x.softcap", "5e-324"},
                                         {"x.diagonal", "-3"},
                                         {"x.left", "4"},
                                         {"x.right", "-1"},
                                         {"x.align", "top-left"},
                                         {"x.dropout", "0"},
                                         {"x.block_q", "0"},
                                         {"x.block_k", "0"}});
  auto const old = problem_file_of(with_problem().key("scale", "0x1.999999999999ap-4").file);
  REQUIRE(old);
  CHECK(old.value().problems[0].problem.draft().scale == 0.1);
}

TEST_CASE("a problem is written without its gaps and its prefix must be its own", "[unit]") {
  problem_draft gapped;
  gapped.q = {element_type::f32, {2, {2, 1}, {3, 1}}, std::vector<std::byte>(16)};
  gapped.q.as<float>()[0] = 1;
  gapped.q.as<float>()[1] = 99;  // in the gap
  gapped.q.as<float>()[3] = 2;
  gapped.k = owned_tensor::compact(element_type::f32, {3, 1});
  gapped.v = owned_tensor::compact(element_type::f32, {3, 1});
  gapped.mask = {element_type::u8, {2, {1, 3}, {3, 1}}, {std::byte{0}, std::byte{1}, std::byte{255}}};
  problem_file_entry const entry{.prefix = "x", .problem = owned_problem::of_valid(gapped)};
  auto const bytes = problem_file_bytes(std::span(&entry, 1));
  REQUIRE(bytes);
  auto const read = problem_file_of(parse_safetensors(bytes.value()).value());
  REQUIRE(read);
  auto const& draft = read.value().problems.at(0).problem.draft();
  REQUIRE(draft.q.bytes.size() == 8);
  CHECK(draft.q.as<float>()[1] == 2);
  CHECK(draft.mask->bytes == std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}});

  std::vector const twice{entry, entry};
  CHECK(problem_file_bytes(twice).why().message() == "x: two problems have this prefix");
}

TEST_CASE("any problem survives the way to a file and back", "[property]") {
  attest::tests::property("recorded round trip", [] {
    auto const size = [](int most) { return static_cast<std::int64_t>(*rc::gen::inRange(0, most)); };
    auto const type = *rc::gen::element(element_type::f32, element_type::f64, element_type::f16, element_type::bf16);
    auto const b = size(3), hk = size(3), n = size(4), m = size(4), d = 1 + size(3), dv = size(4);
    auto const hq = hk * size(3);
    auto const filled = [](owned_tensor tensor) {
      for (auto& byte : tensor.bytes) byte = static_cast<std::byte>(*rc::gen::arbitrary<std::uint8_t>());
      return tensor;
    };
    auto const prefix = *rc::gen::element<std::string>("", "x", "a.b");
    problem_draft draft;
    owned_outputs outputs;
    draft.q = filled(owned_tensor::compact(type, {b, hq, n, d}));
    draft.k = filled(owned_tensor::compact(type, {b, hk, m, d}));
    draft.v = filled(owned_tensor::compact(type, {b, hk, m, dv}));
    if (*rc::gen::arbitrary<bool>()) draft.bias = filled(owned_tensor::compact(element_type::f32, {1, 1, n, m}));
    if (*rc::gen::arbitrary<bool>()) outputs.o = filled(owned_tensor::compact(type, {b, hq, n, dv}));
    if (*rc::gen::arbitrary<bool>()) outputs.weights = filled(owned_tensor::compact(type, {b, hq, n, m}));
    if (*rc::gen::arbitrary<bool>()) draft.scale = *rc::gen::arbitrary<double>();
    draft.softcap = std::abs(*rc::gen::arbitrary<double>());
    draft.band = {*rc::gen::arbitrary<std::int64_t>(), size(9) - 1, size(9) - 1};

    problem_file_entry const entry{.prefix = prefix, .problem = owned_problem::of_valid(draft), .outputs = outputs};
    auto const bytes = problem_file_bytes(std::span(&entry, 1), {{"scale", "17"}});
    RC_ASSERT(static_cast<bool>(bytes));
    auto const file = parse_safetensors(bytes.value());
    RC_ASSERT(static_cast<bool>(file));
    auto const read = problem_file_of(file.value());
    if (!read) RC_FAIL(read.why().message());
    auto const& got = read.value().problems.at(0);
    problem_draft const& back = got.problem.draft();
    RC_ASSERT(got.prefix == entry.prefix);
    RC_ASSERT(same(back.q, draft.q) && same(back.k, draft.k) && same(back.v, draft.v));
    RC_ASSERT(back.bias.has_value() == draft.bias.has_value());
    RC_ASSERT(!back.bias || same(*back.bias, *draft.bias));
    RC_ASSERT(got.outputs.o.has_value() == entry.outputs.o.has_value());
    RC_ASSERT(!got.outputs.o || same(*got.outputs.o, *entry.outputs.o));
    RC_ASSERT(!got.outputs.weights || same(*got.outputs.weights, *entry.outputs.weights));
    RC_ASSERT(back.scale == draft.scale);
    RC_ASSERT(back.softcap == draft.softcap);
    RC_ASSERT(back.band == draft.band);
  });
}

}  // namespace attest::tests::recorded_layout_test
