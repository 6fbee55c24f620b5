// The options that override a file's metadata.
#pragma once

#include <CLI/CLI.hpp>

#include "audit/files/problem_file.hpp"

namespace attest::audit {

inline void declare_overrides(CLI::App& command, flag_overrides& flags) {
  struct flag { char const* name; std::optional<std::string>* value; };
  for (auto const& [name, value] : {flag{"--scale", &flags.scale}, flag{"--softcap", &flags.softcap},
                                    flag{"--diagonal", &flags.diagonal}, flag{"--left", &flags.left},
                                    flag{"--right", &flags.right}})
    command.add_option(name, *value, "overrides the file's metadata")->type_name("X");
}

}  // namespace attest::audit
