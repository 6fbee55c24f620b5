#include "audit/oracle/answer_tensors.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit::answers {

shapes::shapes(problem::sizes const& s, int rank) {
  std::vector<std::int64_t> rows = rank == 4   ? std::vector{s.b, s.hq, s.n}
                                   : rank == 3 ? std::vector{s.b, s.n}
                                               : std::vector{s.n};
  of[lse] = rows;
  of[o] = of[weights] = std::move(rows);
  of[o].push_back(s.dv);
  of[weights].push_back(s.m);
  for (std::size_t k = 0; k < kinds; ++k) {
    elements[k] = 1;
    for (std::int64_t const n : of[k]) elements[k] *= n;
  }
}

std::int64_t place_of(std::int64_t at, problem::sizes const& s, problem_file_entry const& from) noexcept {
  if (from.order != axis_order::bnhd || from.problem.rank() != 4 || s.dv == 0) return at;
  std::int64_t const c = at % s.dv, i = at / s.dv % s.n, h = at / s.dv / s.n % s.hq, b = at / s.dv / s.n / s.hq;
  return ((b * s.n + i) * s.hq + h) * s.dv + c;
}

shapes shapes_in(problem_file_entry const& from, problem::sizes const& s) {
  shapes shape(s, from.problem.rank());
  if (from.order == axis_order::bnhd && from.problem.rank() == 4) std::swap(shape.of[o][1], shape.of[o][2]);
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
