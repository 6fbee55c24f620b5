// Without a domain the calls that are made from forms stay as they are: their names, their forms and their random
// numbers. The hashes were recorded before forms knew of domains; whoever changes the questions on purpose records
// them anew.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/forms/production.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::unlimited_forms_test {
using namespace attest::audit;
using attest::problem::element_type;

namespace {

/// FNV-1a of texts.
class recorder {
 public:
  void add(std::string_view text) {
    for (char const c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash_ = (hash_ ^ 0xff) * 0x100000001b3u;
  }
  void add(std::uint64_t number) { add(std::to_string(number)); }
  void add(audit_case const& made) {
    add(made.full_name());
    if (made.form) add(made.form->text());
    add(made.memory.text());
    add(made.scaled);
    add(static_cast<std::uint64_t>(made.rows.size() + made.further.size()));
    // Integers of random numbers, unlike exponentials of them, are the same on every machine.
    for (std::size_t at = 0; at < std::min<std::size_t>(made.problem.draft().v.bytes.size(), 64); ++at)
      hash_ = (hash_ ^ static_cast<unsigned char>(made.problem.draft().v.bytes[at])) * 0x100000001b3u;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

TEST_CASE("2,000 drawn forms are the recorded ones", "[unit]") {
  recorder seen;
  random_stream random(47, "recorded forms");
  support partly;
  for (feature const one : {feature::grouped, feature::odd_width, feature::window, feature::scale}) partly.refuse(one);
  for (int draw = 0; draw < 2000; ++draw) {
    call_cost const limit{.bytes = std::int64_t{1} << (16 + draw % 13),
                          .products = std::int64_t{1} << (16 + draw % 15)};
    seen.add(drawn_form(random, element_type::f32, limit, draw % 4 == 3 ? partly : support{}).text());
  }
  seen.add(random.bits());
  CHECK(seen.hash() == 0x1b918da88131cb86u);
}

TEST_CASE("drawn cases, production shapes and support cases are the recorded ones", "[unit]") {
  shape_limits limits;
  limits.call = {.bytes = 1 << 20, .products = 1 << 20};
  recorder drawn, production, shown;
  for (std::int64_t number = 1; number <= 300; ++number) drawn.add(drawn_case(element_type::f32, 5, number, limits));
  for (production_shape const& row : production_shapes())
    production.add(production_case(row, element_type::bf16, 5, limits));
  for (audit_case const& one : support_cases(element_type::f16, 5)) shown.add(one);
  CHECK(drawn.hash() == 0x74d26a6dfd968dbu);
  CHECK(production.hash() == 0xa9340555be20afeeu);
  CHECK(shown.hash() == 0xebd8f8b58f6990b5u);
}

}  // namespace attest::tests::unlimited_forms_test
