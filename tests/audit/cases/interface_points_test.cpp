// Every field of the C interface has points, and the fixed part of an audit asks each of them.
#include "audit/cases/forms/interface_points.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "audit/cases/domain/edges.hpp"
#include "audit/cases/forms/production.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::interface_points_test {
namespace {

/// The names of the fields of attest_call.
std::set<std::string> fields_of_the_interface() {
  std::ifstream file(ATTEST_KERNEL_HEADER);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = text.substr(text.find("typedef struct attest_call {"));
  text = text.substr(text.find('{') + 1, text.find("} attest_call;") - text.find('{') - 1);
  text = std::regex_replace(text, std::regex(R"(/\*[^*]*(\*+[^*/][^*]*)*\*+/)"), "");
  std::set<std::string> names;
  std::regex const name(R"((\w+)\s*[,;])");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

TEST_CASE("every field of the C interface has a point", "[unit]") {
  std::set<std::string> with_points, fields = fields_of_the_interface();
  CHECK(fields.size() == 37);
  for (interface_point const& point : interface_points(problem::element_type::bf16)) with_points.insert(point.field);
  for (std::string_view const name : fields_without_points) CHECK(fields.erase(std::string(name)) == 1);
  CHECK(with_points == fields);
}

TEST_CASE("the fixed part of an audit asks every point", "[unit]") {
  auto const type = GENERATE(problem::element_type::f32, problem::element_type::bf16);
  points_asked asked(type);
  std::set<std::string> names;
  for (interface_point const& point : interface_points(type)) CHECK(names.insert(point.text()).second);
  for (audit_case const& made : support_cases(type, 1)) asked.add(made);
  for (audit_case const& made : generated_cases({.type = type, .seed = 1})) asked.add(made);
  for (edge_form const& edge : edge_forms({})) asked.add(edge_case(edge, type, 1, {}));
  std::string missing;
  for (interface_point const* point : asked.missing()) missing += "\n" + point->text();
  INFO(missing);
  CHECK(missing.empty());
}

TEST_CASE("a call is at no point that it does not have", "[unit]") {
  points_asked nothing(problem::element_type::f32);
  CHECK(nothing.missing().size() == nothing.count());
  for (audit_case const& made : support_cases(problem::element_type::f32, 1)) nothing.add(made);
  CHECK(nothing.missing().size() > nothing.count() / 3);
}

}  // namespace
}  // namespace attest::audit::interface_points_test
