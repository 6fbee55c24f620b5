// attest gen: writes the audit's inputs, for a kernel that runs elsewhere.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/files/axis_orders.hpp"
#include "audit/program/command.hpp"
#include "audit/program/file_options.hpp"
#include "audit/program/outputs.hpp"
#include "audit/program/usage_words.hpp"
#include "audit/session/run_gen.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

/// For a size: CLI::AsSizeValue would take −1, and every number above 2⁶⁴ − 1, as 2⁶⁴ − 1. It is the first of its
/// option's transforms.
CLI::Validator const is_in_range(
    [](std::string const& text) -> std::string {
      if (text.starts_with('-')) return "is negative";
      std::uint64_t number = 0;
      bool const fits =
          std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc::result_out_of_range;
      return fits ? "" : fmt::format("'{}' is not in the range of 64 bits", printable(text, 60));
    },
    "");

struct gen_arguments {
  gen_options options;
  std::vector<std::string> only;
  std::optional<std::string> domain;
  std::optional<std::uint64_t> seed;
  std::string out, contract = "f32", layout = "bhnd";
};

int run(gen_arguments& arguments) {
  auto const claim = contract_named(arguments.contract);
  if (!claim) return usage_error("--contract: " + claim.why().message());
  audit_options& cases = arguments.options.cases;
  cases.claim = &claim.value();
  cases.seed = arguments.seed ? *arguments.seed : random_seed();
  cases.only = {arguments.only.begin(), arguments.only.end()};
  if (auto why = read_domain(arguments.domain, cases)) return usage_error(why->message());
  auto const order = std::ranges::find(axis_orders, order_word(arguments.layout));
  arguments.options.order = static_cast<axis_order>(order - axis_orders.begin());
  std::vector<std::filesystem::path> inputs;
  if (auto path = contract_path(arguments.contract)) inputs.push_back(*std::move(path));
  auto const output = outputs::open({{"--out", arguments.out}}, inputs);
  if (!output) return usage_error(output.why().message());
  auto const written = run_gen(arguments.options);
  if (!written) return usage_error(written.why().message());
  if (auto why = output.value().write("--out", written.value().bytes)) return usage_error(why->message());
  if (!written.value().left_out.empty()) fmt::print(stderr, "attest: left out: {}\n", written.value().left_out);
  return 0;
}

}  // namespace

action gen_command(CLI::App& command) {
  auto const arguments = std::make_shared<gen_arguments>();
  command.add_option("--out", arguments->out, "the file to write; - is standard output")->required()->type_name("FILE");
  command.add_option("--seed", arguments->seed, "for the generated cases; drawn where it is not given")
      ->transform(whole_number());
  command.add_option("--contract", arguments->contract, "whose element type the inputs have")->capture_default_str();
  command.add_flag("--quick", arguments->options.cases.quick, "fewer and smaller cases");
  command.add_option("--only", arguments->only, "these checks or CHECK/CASE names")
      ->delimiter(',')
      ->type_name("NAME,…");
  command
      .add_option("--domain", arguments->domain,
                  "the calls that the kernel takes, such as 'd=64,128 dv=d n%128 m=n': every input is made inside")
      ->type_name("DOMAIN");
  command
      .add_option(
          "--abi", arguments->options.version,
          "2: also sinks, entries, pages, block masks, dropout and merges, which version 2 of the C interface has; 3: "
          "gradients, too, with do, and the o and lse that they are formed from")
      ->check(CLI::Range(1, 3))
      ->capture_default_str();
  command.add_flag("--plain", arguments->options.plain,
                   "only problems with dv = d, equal heads, n = m and at most one of band, mask and bias");
  command.add_option("--size", arguments->options.most_bytes, "most bytes of the file; suffixes such as MB and MiB")
      ->transform(CLI::AsSizeValue(true))
      ->transform(is_in_range)
      ->default_str("320 MB")
      ->type_name("BYTES");
  command.add_option("--draws", arguments->options.cases.draws, "how many drawn cases; without it 100")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  command
      .add_option("--layout", arguments->layout,
                  "axes of q, k and v in the file: bhnd, bnhd, nbhd, or thd for what is packed; also bshd, sbhd, …")
      ->check(is_order({axis_orders.begin(), axis_orders.end()}))
      ->type_name("LAYOUT")
      ->capture_default_str();
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
