#include "audit/asking/real_data.hpp"

#include "audit/files/problem_file.hpp"
#include "audit/files/safetensors.hpp"
#include "audit/support/locate.hpp"

namespace attest::audit {

problem::result<std::vector<audit_case>> real_data_cases() {
  auto const path = locate_real_data();
  if (!path) return path.why();
  auto const file = read_safetensors(path.value());
  if (!file) return file.why();
  auto recorded = problem_file_of(file.value());
  if (!recorded) return recorded.why();
  std::vector<audit_case> cases;
  for (problem_file_entry& entry : recorded.value().problems) {
    if (!entry.unusable.empty())
      return problem::error{problem::error_code::bad_shape, entry.name_of(entry.unusable.front().role),
                            entry.unusable.front().says};
    cases.push_back({.check = "real-data",
                     .name = "minilm-" + entry.prefix,
                     .problem = std::move(entry.problem),
                     .recorded = std::move(entry.outputs),
                     .recorded_by = "PyTorch 2.15 (recorded)"});
  }
  return cases;
}

}  // namespace attest::audit
