// The files of findings.
#include "audit/findings/save_findings.hpp"

#include <algorithm>
#include <chrono>

#include "audit/files/safetensors.hpp"
#include "tests/audit/asking/asked_case.hpp"

namespace attest::tests::save_findings_test {

TEST_CASE("a finding for which no time is left is saved with the kernel's answer", "[unit]") {
  audit_case const asked{.check = "drawn", .name = "1", .problem = two_heads()};
  auto wrong = session("mean_v");
  auto const judged = ask(asked, wrong).judged;
  REQUIRE(judged.failed > 0);
  audit_options options;
  options.kernel = library("mean_v").native();
  options.claim = find_contract("f32");
  report into;
  finding& found = into.findings.emplace_back();
  found.what = judged.violations.front(), found.check = asked.check, found.case_name = asked.name;
  fs::path const place = fs::temp_directory_path() / ("attest-late-findings-" + std::to_string(::getpid()));
  fs::create_directory(place);
  findings_folder folder(place, {});
  save_findings(
      options, [&](auto, auto) { return asked; }, std::chrono::steady_clock::now() - std::chrono::milliseconds(1),
      folder, into);
  REQUIRE(found.shrunk);
  CHECK(found.no_pictures == "there was no time left");
  auto const file = read_safetensors(found.shrunk->file);
  fs::remove_all(place);
  REQUIRE(file);
  CHECK(std::ranges::count_if(file.value().tensors, [](auto const& one) { return one.first.ends_with(".o"); }) == 1);
}

}  // namespace attest::tests::save_findings_test
