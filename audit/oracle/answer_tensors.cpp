#include "audit/oracle/answer_tensors.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit::answers {

shapes::shapes(problem_file_entry const& from)
    : order_(from.problem.rank() == 4 ? from.order : axis_order::bhnd), packed_(from.problem.draft().q_offsets) {
  problem::sizes const& s = from.problem.size();
  problem_draft const& draft = from.problem.draft();
  has_weights = draft.of->does_give(output_kind::weights) && !packed_ && !draft.k_offsets;
  std::visit(
      [&](auto const& p) {
        auto const list = [](problem::layout const& layout) {
          return std::vector<std::int64_t>(layout.shape.begin(), layout.shape.begin() + layout.rank);
        };
        of[lse] = list(problem::rows_layout(p)), of[o] = list(problem::rows_layout(p, s.dv));
        of[weights] = has_weights ? list(problem::rows_layout(p, s.m)) : std::vector<std::int64_t>{0};
      },
      from.problem.instance());
  if (draft.merge) {
    of[lse] = of[o] = merged_rows(from.problem);
    of[o].push_back(s.dv);
  }
  for (std::size_t k = 0; k < kinds; ++k) {
    elements[k] = 1;
    for (std::int64_t const n : of[k]) elements[k] *= n;
  }
}

std::size_t shapes::place_of_o(std::int64_t row) const noexcept {
  std::int64_t const dv = of[o].back();
  bool const by_token = order_ == axis_order::thd && packed_, swapped = order_ == axis_order::bnhd && !packed_;
  if (by_token || swapped) {
    std::int64_t const heads = of[o][1], rows = of[o][2];
    row = (row / rows / heads * rows + row % rows) * heads + row / rows % heads;
  }
  return static_cast<std::size_t>(row * dv);
}

shapes shapes::in_file() const {
  shapes shape = *this;
  bool const by_token = order_ == axis_order::thd && packed_;
  if (by_token || (order_ == axis_order::bnhd && !packed_)) std::swap(shape.of[o][1], shape.of[o][2]);
  if (by_token) shape.of[o].erase(shape.of[o].begin()), shape.of[lse].erase(shape.of[lse].begin());
  return shape;
}

std::optional<problem::error> beyond_memory(problem_file const& recorded,
                                            std::function<double(problem::sizes const&)> const& bytes_of,
                                            std::string_view among) {
  double const memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  double bytes = 0;
  for (problem_file_entry const& entry : recorded.problems) {
    bytes += bytes_of(entry.problem.size());
    if (bytes > memory / 2)
      return problem::error{problem::error_code::unsupported, printable(entry.name_of("q")),
                            fmt::format("the answers up to this problem have {:.3g} GB{}, more than half of the "
                                        "machine's memory",
                                        bytes / 1e9, among)};
  }
  return std::nullopt;
}

}  // namespace attest::audit::answers
