// Files of problems, built tensor by tensor.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "audit/files/problem_file.hpp"
#include "tests/support/property.hpp"

namespace attest::audit {

/// A file in memory, put together tensor by tensor.
struct file_builder {
  safetensors_file file;
  std::shared_ptr<std::deque<std::vector<std::byte>>> owned = std::make_shared<std::deque<std::vector<std::byte>>>();

  file_builder& add(std::string const& name, std::string const& dtype, std::vector<std::int64_t> const& shape) {
    auto bytes = *safetensors_element_bytes(dtype);
    for (auto const size : shape) bytes *= static_cast<std::size_t>(size);
    file.tensors[name] = {dtype, shape, owned->emplace_back(bytes, std::byte{1})};
    return *this;
  }
  file_builder& key(std::string const& name, std::string const& value) { return file.metadata[name] = value, *this; }
};

/// q, k, v (F32) of one problem with n = 2, m = 3, d = 4, dv = 5.
inline file_builder with_problem(std::string const& prefix = "") {
  file_builder builder;
  builder.add(prefix + "q", "F32", {2, 4}).add(prefix + "k", "F32", {3, 4}).add(prefix + "v", "F32", {3, 5});
  return builder;
}

inline std::string refusal(file_builder const& builder, flag_overrides const& flags = {}) {
  auto const read = problem_file_of(builder.file, flags);
  return read ? "accepted" : read.why().message();
}

}  // namespace attest::audit
