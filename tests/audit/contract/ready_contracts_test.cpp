// The files of contracts/: each reads, prints as it is written, and names the source of every number.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "audit/contract/contract_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::ready_contracts_test {
namespace {

using json = nlohmann::ordered_json;

std::string text_of(std::filesystem::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> all;
  for (auto const& entry : std::filesystem::directory_iterator(ATTEST_CONTRACTS)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

TEST_CASE("there is a ready contract for each of the kernels that people run", "[unit]") {
  std::set<std::string> names;
  for (auto const& path : files()) {
    CHECK(path.extension() == ".json");
    names.insert(path.stem().string());
  }
  CHECK(names.size() >= 17);
  for (char const* const name :
       {"flash-attention-2-bf16", "flash-attention-2-splitkv-f16", "flash-attention-3-f16", "pytorch-cpu-flash-f32",
        "pytorch-cpu-math-bf16", "onnxruntime-cpu-f32", "xformers-cutlass-f16", "triton-tutorial-f16"})
    CHECK(names.contains(name));
}

TEST_CASE("a ready contract reads, and prints as it is written", "[unit]") {
  for (auto const& path : files()) {
    INFO(path);
    auto const claim = read_contract(path);
    REQUIRE(claim);
    CHECK(claim.value().name == path.stem().string());
    CHECK_FALSE(claim.value().builtin);
    CHECK(find_contract(claim.value().name) == nullptr);
    auto const written = json::parse(text_of(path)), printed = json::parse(contract_text(claim.value()));
    // It starts from no preset, so that no later preset changes it.
    CHECK_FALSE(written.contains("from"));
    for (char const* const key : {"name", "sentence", "input", "output"}) CHECK(written.at(key) == printed.at(key));
    for (auto const& item : written.at("conventions").items())
      CHECK(printed.at("conventions").at(item.key()) == item.value());
    for (auto const& item : written.at("model").items()) {
      INFO(item.key());
      CHECK(item.value() == printed.at("model").at(item.key()));
    }
    auto const again = parse_contract(contract_text(claim.value()), "");
    REQUIRE(again);
    CHECK(again.value() == claim.value());
    CHECK(contract_text(again.value()) == contract_text(claim.value()));
  }
}

TEST_CASE("every number of a ready contract has a source", "[unit]") {
  for (auto const& path : files()) {
    INFO(path);
    auto const written = json::parse(text_of(path));
    std::set<std::string> fields, sources;
    for (char const* const part : {"model", "conventions"})
      for (auto const& item : written.at(part).items()) fields.insert(item.key());
    if (written.contains("gradient"))
      for (auto const& item : written.at("gradient").items()) fields.insert("gradient." + item.key());
    for (auto const& item : written.at("sources").items()) sources.insert(item.key());
    CHECK(fields == sources);
  }
}

}  // namespace
}  // namespace attest::audit::ready_contracts_test
