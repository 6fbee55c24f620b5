// Every processor that multiplies and adds with one rounding gives the kernel the same bits: AVX2, AVX-512, NEON.
#include <bit>
#include <cstdint>
#include <random>

#include "tests/fast/gradient_case.hpp"

namespace attest::tests::recorded_bits_test {
using tests::answer_to;
using tests::owned;
using tests::written;

namespace {

/// Inputs that no mathematical library has touched: multiples of 1/512 in [−4, 4).
template <class T>
written<T> rational_case(problem::sizes const& s, std::uint64_t seed) {
  written<T> problem(s, seed);
  std::mt19937_64 random(seed);
  auto const draw = [&](T& x, auto...) { x = (static_cast<T>(random() % 4096) - 2048) / 512; };
  problem.q.each(draw), problem.k.each(draw), problem.v.each(draw);
  problem.bias = owned<T>::shaped({1, s.hq, s.n, s.m});
  problem.bias.each(draw);
  problem.mask = owned<std::uint8_t>::shaped({s.b, 1, s.n, s.m});
  problem.mask.each([&](std::uint8_t& x, auto...) { x = random() % 5 != 0; });
  problem.scale = 0.25;
  if (seed % 2 == 0) problem.softcap = 4;
  return problem;
}

/// FNV-1a over the bits of some tensors.
template <class T>
std::uint64_t digest_of(std::initializer_list<owned<T> const*> tensors) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (auto const* tensor : tensors)
    for (T const x : tensor->values) {
      std::uint64_t bits = std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
      for (std::size_t byte = 0; byte < sizeof(T); ++byte, bits >>= 8) hash = (hash ^ (bits & 0xFF)) * 0x100000001B3;
    }
  return hash;
}

template <class T>
std::uint64_t digest(tests::owned_answer<T> const& answer) {
  return digest_of<T>({&answer.o, &answer.lse, &answer.weights});
}

/// The gradients of the same cases with sinks, and dO of the same kind of numbers.
template <class T>
std::uint64_t gradient_digest(problem::sizes const& s, std::uint64_t seed) {
  auto asked = rational_case<T>(s, seed);
  std::mt19937_64 random(seed + 1);
  auto const draw = [&](T& x, auto...) { x = (static_cast<T>(random() % 4096) - 2048) / 512; };
  asked.sink = owned<T>::shaped({s.hq});
  asked.sink.each(draw);
  auto at = tests::forward_of(asked, seed);
  at.d_o.each(draw);
  tests::differentiate(asked, at);
  return digest_of<T>({&at.dq, &at.dk, &at.dv, &at.dbias, &at.dsink});
}

template <class T>
std::vector<std::uint64_t> digests() {
  std::vector<std::uint64_t> found;
  for (std::int64_t const d : {1, 16, 67})
    for (std::int64_t const m : {1, 13, 130, 700})
      found.push_back(
          digest(answer_to(rational_case<T>({1, 2, 1, 9, m, d, d + 2}, static_cast<std::uint64_t>(d + m)))));
  return found;
}

// For d of 1, 16, 67 and m of 1, 13, 130, 700 in turn.
std::vector<std::uint64_t> const recorded_f32{0x781650C66278BCF9, 0xBAAB1278EE18132A, 0x6618A0F77ABC240C,
                                              0x16B0628FEDC761FB, 0x73E65B0D83720A78, 0x96A38E00F9BD6E34,
                                              0xE6010F5053CFD716, 0x9E8B28559EE59254, 0xC0DCC56F634ADC69,
                                              0x0AE23AF171A5F70E, 0x002AC2961D69D5A6, 0x3B9F125857D48656};
std::vector<std::uint64_t> const recorded_f64{0xB0DBA52F07F2F127, 0xCC332C67DA086095, 0x1CD0EE7092F1F0AC,
                                              0x6C868676AD3591CF, 0x302BB0AC5C6826A2, 0xD87B15F880513DB2,
                                              0x41C99642C194028D, 0x7544B27F900F3CDC, 0x64D1033E2B3B10E8,
                                              0x131845BF0F271DB9, 0xE3E90C420B25C56E, 0xF7D7BB329ABBCED8};

template <class T>
std::vector<std::uint64_t> gradient_digests() {
  std::vector<std::uint64_t> found;
  for (std::int64_t const d : {1, 16, 67})
    for (std::int64_t const m : {1, 130, 300})
      found.push_back(gradient_digest<T>({1, 2, 1, 150, m, d, d + 2}, static_cast<std::uint64_t>(d + m)));
  return found;
}

// For d of 1, 16, 67 and m of 1, 130, 300 in turn.
std::vector<std::uint64_t> const recorded_gradients_f32{0x898145DE89D3448B, 0x22A61A1860586AFC, 0x05EC9212E131F86F,
                                                        0xF40E322133540247, 0xE53600FEBCF259E4, 0x06069BDE6DD11952,
                                                        0x7EE995E22E3EA416, 0x4811F54BA01CA236, 0xDE41C89C0A6D5D3F};
std::vector<std::uint64_t> const recorded_gradients_f64{0x8C5B7B27781ABA15, 0xDCBCCAC665675AD4, 0x6D8AC36C8FD77B40,
                                                        0xED4437303BD76577, 0x617FD86E77D9D866, 0x231FB12B3ABD5E6D,
                                                        0xF8589446D4F0187D, 0x5CE68C013D8E0461, 0xE03D26E2142982E5};

bool has_fused_products(std::string_view target) {
  return target == "AVX2" || target.starts_with("AVX3") || target == "NEON";
}

}  // namespace

TEST_CASE("O, LSE and weights have the recorded bits", "[unit]") {
  for (std::string_view const target : fast::simd_targets()) {
    if (!has_fused_products(target)) continue;
    INFO(target);
    tests::simd_target const set(target);
    CHECK(digests<float>() == recorded_f32);
    CHECK(digests<double>() == recorded_f64);
  }
}

TEST_CASE("gradients have the recorded bits", "[unit]") {
  for (std::string_view const target : fast::simd_targets()) {
    if (!has_fused_products(target)) continue;
    INFO(target);
    tests::simd_target const set(target);
    CHECK(gradient_digests<float>() == recorded_gradients_f32);
    CHECK(gradient_digests<double>() == recorded_gradients_f64);
  }
}

}  // namespace attest::tests::recorded_bits_test
