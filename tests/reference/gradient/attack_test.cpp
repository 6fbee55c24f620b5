// Honest kernels never exceed the bound of their own models, in any mode; dishonest ones do.
#include <string>

#include "tests/reference/gradient/asked.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::attack_test {
using reference::gradient_mode;

namespace {

struct named_kernel {
  std::string name;
  honest_kernel kernel;
};

template <class T>
std::vector<named_kernel> kernels() {
  std::vector<named_kernel> list{
      {"fa", {}},
      {"fa, reversed", {.reverse = true}},
      {"fa, by pairs, sigma first", {.scale_first = true, .pairwise = true}},
      {"fa, base 2", {.base_2 = true}},
      {"fa, delta first", {.delta_first = true}},
      {"fa, delta of weights", {.from_weights = true}},
      {"naive", {.saved = true, .from_weights = true}},
      {"naive, expanded", {.saved = true, .from_weights = true, .expanded = true, .pairwise = true}},
      {"naive, delta of output", {.saved = true, .reverse = true}},
  };
  if (std::is_same_v<T, float>) return list;
  for (auto& [name, kernel] : list) kernel.low = problem::format_of<T>;
  list.push_back({"fa, heads stored", {.low = problem::format_of<T>, .low_heads = true}});
  list.push_back({"fa, parts stored", {.low = problem::format_of<T>, .part = 2}});
  list.push_back({"fa, weights stored", {.low = problem::format_of<T>, .low_weights = true}});
  return list;
}

/// Every kernel in every mode over drawn cases.
template <class T>
void attack(std::uint64_t seed, int cases) {
  draw random(seed);
  asked total;
  for (int n = 0; n < cases; ++n) {
    auto const features = static_cast<unsigned>(random.whole(0, 511)) & static_cast<unsigned>(random.whole(0, 511));
    auto const of = static_cast<family>(random.whole(0, last_family));
    auto const c = drawn_case<T>(random, of, features, random.chance(0.1) ? 40 : 6);
    stored_case<T> const stored(c);
    for (auto const& [name, kernel] : kernels<T>()) {
      auto const models = models_of(kernel, c);
      auto const got = honest_run(kernel, c)();
      for (auto const mode : {gradient_mode::own, gradient_mode::recorded, gradient_mode::local}) {
        // A saved weight is no function of the LSE that was handed over.
        if (kernel.saved && mode != gradient_mode::own) continue;
        if (kernel.from_weights && mode == gradient_mode::local) continue;
        asked const found = ask(stored, models, got, mode);
        CAPTURE(n, name, features, static_cast<int>(of), static_cast<int>(mode), found.worst);
        CHECK(found.refuted == 0);
        CHECK(found.most() <= 1);
        total.add(found);
      }
    }
  }
  check_most_are_judged(total);
  CHECK(total.most() > 0.5);
}

}  // namespace

TEST_CASE("honest f32 kernels stay within the bound", "[property]") { attack<float>(11, 400); }
TEST_CASE("honest bf16 kernels stay within the bound", "[property]") { attack<problem::bf16>(12, 150); }
TEST_CASE("honest f16 kernels stay within the bound", "[property]") { attack<problem::f16>(13, 150); }

}  // namespace attest::tests::attack_test
