#include "audit/oracle/answer_tensors.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit::answers {

shapes::shapes(problem_file_entry const& from)
    : order_(from.problem.rank() >= 3 ? from.order : axis_order::bhnd), packed_(from.problem.draft().q_offsets) {
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
  if (!is_inside_out()) return static_cast<std::size_t>(row * dv);
  std::size_t const axes = of[o].size();
  std::int64_t const heads = of[o][axes - 3], rows = of[o][axes - 2], entries = axes == 4 ? of[o][0] : 1;
  if (order_ == axis_order::nbhd) row = row % rows * entries * heads + row / rows;
  else row = (row / rows / heads * rows + row % rows) * heads + row / rows % heads;
  return static_cast<std::size_t>(row * dv);
}

bool shapes::is_inside_out() const noexcept {
  return packed_ ? order_ == axis_order::thd : order_ == axis_order::bnhd || order_ == axis_order::nbhd;
}

shapes shapes::in_file() const {
  shapes shape = *this;
  bool const by_token = order_ == axis_order::thd && packed_;
  if (is_inside_out()) {
    std::vector<std::int64_t>& axes = shape.of[o];
    std::swap(axes[axes.size() - 3], axes[axes.size() - 2]);
    if (order_ == axis_order::nbhd && axes.size() == 4) std::swap(axes[0], axes[1]);
  }
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
