// attest merge: joins the reports of all shards of an audit.
#include <span>

#include "audit/program/command.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/report/file/join.hpp"
#include "audit/support/files.hpp"

namespace attest::audit {
namespace {

struct merge_arguments {
  std::vector<std::string> files;
  bool same_kernel = false;
  report_files written;
};

int run(merge_arguments& arguments) {
  if (auto why = arguments.written.open({arguments.files.begin(), arguments.files.end()}))
    return usage_error(why->message());
  std::vector<report_file> files;
  for (std::string const& name : arguments.files) {
    auto const file = read_file(name);
    if (!file) return usage_error(file.why().message());
    auto const bytes = file.value().bytes;
    files.push_back({name, {reinterpret_cast<char const*>(bytes.data()), bytes.size()}});
  }
  auto const joined = join_reports(files, arguments.same_kernel);
  if (!joined) return usage_error(joined.why().message());
  return arguments.written.write(joined.value());
}

}  // namespace

action merge_command(CLI::App& command) {
  auto const arguments = std::make_shared<merge_arguments>();
  command
      .add_option("reports", arguments->files, "what `attest audit --seed N --shard i/n --json FILE` wrote, for all i")
      ->required()
      ->type_name("A.json B.json …");
  command.add_flag("--same-kernel", arguments->same_kernel,
                   "take builds of the kernel that differ for one; the verdict names them");
  arguments->written.declare(command);
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
