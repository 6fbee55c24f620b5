// Every processor that multiplies and adds with one rounding gives the kernel the same bits: AVX2, AVX-512, NEON.
#include <bit>
#include <cstdint>
#include <random>

#include "tests/fast/case.hpp"

using namespace attest;
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

/// FNV-1a over the bits of all outputs.
template <class T>
std::uint64_t digest(tests::owned_answer<T> const& answer) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (auto const* tensor : {&answer.o, &answer.lse, &answer.weights})
    for (T const x : tensor->values) {
      std::uint64_t bits = std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
      for (std::size_t byte = 0; byte < sizeof(T); ++byte, bits >>= 8) hash = (hash ^ (bits & 0xFF)) * 0x100000001B3;
    }
  return hash;
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
