// attest describe: the manual page, or what a shell completes. Hidden: an installation has what it writes.
#include "audit/program/command.hpp"

#include "audit/program/describe/description.hpp"

namespace attest::audit {

action describe_command(CLI::App& command) {
  auto const form = std::make_shared<std::string>();
  command.group("");
  command.add_option("form", *form, "man, bash, zsh or fish")
      ->required()
      ->check(one_of({"man", "bash", "zsh", "fish"}));
  return [form, root = command.get_parent()] {
    description const all = describe(*root);
    return print(*form == "man"    ? manual_page(all)
                 : *form == "bash" ? bash_completion(all)
                 : *form == "zsh"  ? zsh_completion(all)
                                   : fish_completion(all));
  };
}

}  // namespace attest::audit
