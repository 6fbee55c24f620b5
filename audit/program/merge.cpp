// attest merge: the reports of all shards of one audit as one verdict.
#include <span>

#include "audit/program/command.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/report/join.hpp"
#include "audit/session/compare.hpp"
#include "audit/support/files.hpp"

namespace attest::audit {
namespace {

struct merge_words {
  std::vector<std::string> files;
  report_files written;
};

int run(merge_words const& asked) {
  std::vector<report_file> files;
  for (std::string const& name : asked.files) {
    auto const file = read_file(name);
    if (!file) return complain(file.why().message());
    auto const bytes = file.value().bytes;
    files.push_back({name, {reinterpret_cast<char const*>(bytes.data()), bytes.size()}});
  }
  auto const joined = join_reports(files);
  if (!joined) return complain(joined.why().message());
  return asked.written.write(joined.value(), as_json(std::span<report const>(joined.value())));
}

}  // namespace

action merge_command(CLI::App& command) {
  auto const asked = std::make_shared<merge_words>();
  command.add_option("reports", asked->files, "what `attest audit --seed N --shard i/n --json FILE` wrote, for all i")
      ->required()
      ->type_name("A.json B.json …");
  asked->written.declare(command);
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
