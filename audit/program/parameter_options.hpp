// An option for each parameter of the problem, which overrides the metadata of a file.
#pragma once

#include <CLI/CLI.hpp>

#include "audit/files/problem_file.hpp"

namespace attest::audit {

inline void declare_parameter_options(CLI::App& command, flag_overrides& flags) {
  problem::visit_parameters(problem::parameters{}, [&](auto const& parameter, auto const&) {
    command.add_option("--" + std::string(parameter.name), flags[parameter.name], "overrides the file's metadata")
        ->type_name("X");
  });
}

}  // namespace attest::audit
