// The zoo itself: what `attest selftest` counts on.
#include "audit/zoo/zoo.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "audit/zoo/claim.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::zoo_test {
namespace {

TEST_CASE("there are 40 mutants and 8 honest designs at least", "[unit]") {
  std::int64_t honest = 0, mutants = 0;
  for (zoo::specimen const& specimen : zoo::specimens())
    if (specimen.family.empty()) ++(specimen.is_honest() ? honest : mutants);
  CHECK(honest >= 8);
  CHECK(mutants >= 40);
}

TEST_CASE("every class of known failures has a mutant that cites it", "[unit]") {
  std::set<std::optional<audit::bug_class>> classes;
  for (zoo::specimen const& specimen : zoo::specimens())
    if (!specimen.seen_in.empty()) classes.insert(specimen.bug_class);
  for (audit::bug_class_row const& row : audit::bug_class_table) {
    if (row.whose == audit::bug_class_row::audit) continue;
    INFO(row.token);
    CHECK(classes.contains(row.id));
  }
}

TEST_CASE("a mutant names a class, an issue except in two families, and its defect; a specimen's name is its own",
          "[unit]") {
  std::set<std::string_view> names;
  for (zoo::specimen const& specimen : zoo::specimens()) {
    INFO(specimen.name);
    CHECK(names.insert(specimen.name).second);
    CHECK(!specimen.description.empty());
    auto const claim = audit::claim_of(specimen);
    if (!claim) FAIL_CHECK(claim.why().message());
    CHECK(zoo::find_specimen(specimen.name) == &specimen);
    CHECK((specimen.family.empty() || specimen.family == zoo::conditional_family ||
           specimen.family == zoo::operator_family || specimen.family == zoo::backward_family));
    bool const asked = specimen.family == zoo::conditional_family || specimen.family == zoo::backward_family;
    if (specimen.is_honest() || asked) continue;
    CHECK(!specimen.seen_in.empty());
  }
  CHECK(zoo::find_specimen("none of them") == nullptr);
}

}  // namespace
}  // namespace attest::tests::zoo_test
