// tests/vectors: what `attest vectors` wrote is read back, its truth derived again, and the built-in kernel judged by
// it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "audit/cases/case.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/oracle/vectors_json.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::vectors_test {
namespace {

namespace fs = std::filesystem;

std::string contents(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files() {
  std::vector<fs::path> paths;
  for (auto const& entry : fs::directory_iterator(ATTEST_VECTORS)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  REQUIRE_FALSE(paths.empty());
  return paths;
}

std::vector<audit::vector_file> read_all() {
  std::vector<audit::vector_file> all;
  for (fs::path const& path : files()) {
    auto read = audit::parse_vectors(contents(path));
    INFO(path << (read ? "" : ": " + read.why().message()));
    REQUIRE(read.has_value());
    all.push_back(std::move(read).value());
  }
  return all;
}

/// Does a truth of the file hold at another width, and is its rounded value the ball tier's?
template <class Target>
void check_truth(audit::certified_value const& certified, reference::ball<256> const& truth,
                 reference::rounded_value<Target> const& rounded) {
  CHECK(certified.lower <= reference::upper(truth));
  CHECK(certified.upper >= reference::lower(truth));
  CHECK(certified.lower <= certified.upper);
  REQUIRE(rounded.has_value());
  CHECK(certified.rounded == audit::as_double(*rounded));
}

bool is_nan(audit::certified_value const& x) {
  return std::isnan(x.lower) && std::isnan(x.upper) && x.rounded && std::isnan(*x.rounded);
}

template <class T>
void check_row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
               audit::vector_case const& vector, std::size_t at) {
  reference::enclosed_row<256, T> row;
  reference::compiled::enclose_row(p, b, h, i, row);
  reference::enclosed_row<128, T> narrow;  // what it rounds to is one number at every width
  reference::compiled::enclose_row(p, b, h, i, narrow);
  auto const dv = static_cast<std::size_t>(p.size().dv);
  for (std::size_t c = 0; c < dv; ++c) {
    audit::certified_value const& o = vector.o[at * dv + c];
    auto const truth = reference::compiled::output(p, row, static_cast<std::int64_t>(c));
    switch (truth.kind) {
      case reference::value_kind::finite:
        check_truth<T>(o, truth.value, reference::compiled::rounded_output<T>(p, narrow, static_cast<std::int64_t>(c)));
        break;
      case reference::value_kind::nan: CHECK(is_nan(o)); break;
      default: CHECK((std::isinf(o.lower) && std::isinf(o.upper) && !o.rounded));
    }
  }
  audit::certified_value const& lse = vector.lse[at];
  if (row.kind == reference::row_kind::nan) CHECK(is_nan(lse));
  else if (row.kind == reference::row_kind::empty) CHECK(lse.rounded == -reference::infinity);
  else
    check_truth<problem::lse_element<T>>(lse, reference::compiled::log_sum_exp(row),
                                         reference::compiled::rounded_log_sum_exp<problem::lse_element<T>>(narrow));
}

}  // namespace

TEST_CASE("there are 500 vectors and more, of every check, class and element type, in 3 MB", "[vector]") {
  std::set<std::string> checks, flags, names;
  std::size_t cases = 0, bytes = 0;
  for (fs::path const& path : files()) bytes += fs::file_size(path);
  for (audit::vector_file const& file : read_all()) {
    checks.insert(file.check);
    std::set<problem::element_type> types;
    for (audit::vector_case const& vector : file.cases) {
      ++cases;
      types.insert(vector.problem.type());
      flags.insert(vector.flags.begin(), vector.flags.end());
      CHECK(names.insert(file.check + "/" + vector.name).second);
    }
    INFO(file.check);
    CHECK(types.size() == 4);
  }
  CHECK(cases >= 500);
  CHECK(bytes <= 3'000'000);
  for (audit::check const& check : audit::checks()) {
    INFO(check.name);
    bool const has_vectors = check.name != "real-data" && check.name != "merge" &&
                             std::ranges::count(audit::checks_of_forms, check.name) == 0 &&
                             std::ranges::count(audit::checks_of_groups, check.name) == 0 &&
                             std::ranges::count(audit::checks_of_version_2, check.name) == 0 &&
                             check.name != audit::check_of_gradients;
    CHECK(checks.contains(std::string(check.name)) == has_vectors);
    if (std::ranges::count(audit::checks_of_version_2, check.name) == 0 && check.name != audit::check_of_gradients)
      CHECK(flags.contains(std::string(audit::token_of(check.bug_class))));
  }
}

TEST_CASE("the truth of every vector is derived again at another width", "[vector]") {
  for (audit::vector_file const& file : read_all())
    for (audit::vector_case const& vector : file.cases) {
      INFO(file.check << "/" << vector.name);
      std::visit(
          [&]<class T>(problem::instance<T> const& p) {
            problem::sizes const& s = p.size();
            for (std::int64_t at = 0; at < s.b * s.hq * s.n; ++at)
              check_row(p, at / s.n / s.hq, at / s.n % s.hq, at % s.n, vector, static_cast<std::size_t>(at));
          },
          vector.problem.instance());
    }
}

TEST_CASE("the built-in kernel is within its bound on every vector", "[vector]") {
  for (audit::vector_file const& file : read_all())
    for (audit::vector_case const& vector : file.cases) {
      auto const& instance = vector.problem.instance();
      audit::judgement const judged =
          audit::judge(instance, builtin_answer(vector.problem.draft()), builtin_claim(instance));
      INFO(file.check << "/" << vector.name << ": "
                      << (judged.violations.empty() ? "" : judged.violations.front().sentence));
      CHECK(judged.failed == 0);
    }
}

TEST_CASE("`attest vectors` writes these bytes", "[vector]") {
  std::set<std::string> written;
  for (audit::vector_file const& file : audit::certified_vectors()) {
    INFO(file.check);
    written.insert(file.check + ".json");
    bool const same = audit::vector_text(file) == contents(fs::path(ATTEST_VECTORS) / (file.check + ".json"));
    CHECK(same);
  }
  for (fs::path const& path : files()) CHECK(written.contains(path.filename().string()));
}

TEST_CASE("what is not a file of vectors is refused with a sentence that names the place", "[vector]") {
  std::string const good = contents(fs::path(ATTEST_VECTORS) / "sharp.json");
  REQUIRE(audit::parse_vectors(good).has_value());
  auto const refused = [&](std::string const& from, std::string const& to, std::string place) {
    std::string text = good;
    auto const at = text.find(from);
    REQUIRE(at != text.npos);
    // "cases[0]" stands for the case that has the text.
    std::size_t cases_before = 0;
    for (auto name = text.find("{\"name\":"); name < at; name = text.find("{\"name\":", name + 1)) ++cases_before;
    if (cases_before > 1 && place.starts_with("cases[0]"))
      place = "cases[" + std::to_string(cases_before - 1) + "]" + place.substr(8);
    text.replace(at, from.size(), to);
    auto const read = audit::parse_vectors(text);
    INFO(from << " -> " << to.substr(0, 40));
    REQUIRE_FALSE(read.has_value());
    INFO(read.why().message());
    CHECK(read.why().argument == place);
    CHECK_FALSE(read.why().reason.empty());
  };
  refused("\"schema\":1", "\"schema\":2", "attest");
  refused("\"type\":\"f32\"", "\"type\":\"f31\"", "cases[0].type");
  refused("\"m\":2", "\"m\":4611686018427387904", "cases[0].k");
  refused("\"m\":2", "\"m\":-2", "cases[0].m");
  refused("\"m\":2", "\"m\":2.0", "cases[0].m");
  refused("\"q\":[", "\"q\":[1,", "cases[0].q");
  refused("\"q\":[\"", "\"q\":[\"0x1.00000001p+0 ", "cases[0].q");
  refused("\"softcap\":\"0x0p+0\"", "\"softcap\":\"-0x1p+0\"", "cases[0].softcap");
  refused("\"truth_upper\":[", "\"truth_upper\":[\"0x0p+0\",", "cases[0].o");
  refused("\"mask\":null", "\"mask\":{\"shape\":[1,1,1,1],\"values\":[1]}", "cases[0].mask");
  refused("\"cases\":[", "\"cases\":" + std::string(100'000, '['), "");
  refused("\"cases\":", std::string("\0", 1), "");
  CHECK_FALSE(audit::parse_vectors("").has_value());
  CHECK_FALSE(audit::parse_vectors("[]").has_value());
  for (std::size_t size = 0; size < good.size(); size += good.size() / 50)
    CHECK_FALSE(audit::parse_vectors(std::string_view(good).substr(0, size)).has_value());
}

}  // namespace attest::tests::vectors_test
