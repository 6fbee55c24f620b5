#include "audit/solve.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "audit/judge.hpp"
#include "reference/decimal.hpp"

namespace attest::audit {
namespace {

using problem::result;
using reference::row_kind;
using reference::value_kind;

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();

/// The three results of a problem.
enum kind : std::size_t { o, weights, lse, kinds };
constexpr std::string_view names[kinds]{"o", "weights", "lse"};

/// Evaluates every row and hands each element to `take(kind, place, enclosed)` once, from any thread.
template <class T, class Take>
void for_each_element(problem::instance<T> const& p, Take&& take) {
  constexpr unsigned W = 128;
  problem::sizes const& s = p.size();
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * s.n, [&](std::int64_t at) {
    reference::enclosed_row<W, T> row;
    reference::enclose_row(p, at / s.n / s.hq, at / s.n % s.hq, at % s.n, row);
    auto const place = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    for (std::int64_t c = 0; c < s.dv; ++c)
      take(o, place(at * s.dv + c), reference::output(p, row, c));
    value_kind const kind = row.kind == row_kind::nan ? value_kind::nan : value_kind::finite;
    std::size_t key = 0;
    for (std::int64_t j = 0; j < s.m; ++j) {
      bool const has_weight = row.kind == row_kind::finite && key < row.keys.size() && row.keys[key].j == j;
      std::size_t const n = has_weight ? key++ : 0;
      take(weights, place(at * s.m + j),
           reference::enclosed_value<W>{kind, has_weight ? reference::weight(row, n) : reference::ball<W>()});
    }
    if (row.kind == row_kind::empty) return;  // −∞ is there already
    take(lse, place(at),
         reference::enclosed_value<W>{kind, kind == value_kind::nan ? reference::ball<W>() : reference::log_sum_exp(row)});
  });
}

/// Storage for the tensors of one problem: shape in the rank of q.
struct shapes {
  std::vector<std::int64_t> of[kinds];
  std::int64_t elements[kinds]{};

  shapes(problem::sizes const& s, int rank) {
    std::vector<std::int64_t> rows = rank == 4 ? std::vector{s.b, s.hq, s.n} : rank == 3 ? std::vector{s.b, s.n} : std::vector{s.n};
    of[lse] = rows;
    of[o] = of[weights] = std::move(rows);
    of[o].push_back(s.dv);
    of[weights].push_back(s.m);
    for (std::size_t k = 0; k < kinds; ++k) {
      elements[k] = 1;
      for (std::int64_t const n : of[k]) elements[k] *= n;
    }
  }
};

std::string_view dtype_of(problem::element_type type) {
  switch (type) {
    case problem::element_type::f64: return "F64";
    case problem::element_type::f16: return "F16";
    case problem::element_type::bf16: return "BF16";
    default: return "F32";
  }
}

/// Tensors under construction: the bytes outlive the map of spans that the writer takes.
class tensors {
 public:
  template <class E>
  std::shared_ptr<std::vector<E>> add(std::string name, std::vector<std::int64_t> const& shape, std::int64_t elements, E fill) {
    auto data = std::make_shared<std::vector<E>>(static_cast<std::size_t>(elements), fill);
    map_[std::move(name)] = {std::string(dtype_of(problem::type_of<E>)), shape, std::as_bytes(std::span(*data))};
    owners_.push_back(data);
    return data;
  }
  result<std::vector<std::byte>> file(safetensors_metadata const& metadata) const { return safetensors_bytes(map_, metadata); }

 private:
  safetensor_map map_;
  std::vector<std::shared_ptr<void>> owners_;
};

/// Rows that one thread rounds at a time: they share the conversion of K.
constexpr std::int64_t rows_of_a_task = 16;

template <class Target, class T>
void solve_rounded(problem::instance<T> const& p, recorded_problem const& from, tensors& into, solution& made) {
  problem::sizes const& s = p.size();
  shapes const shape(s, p.rank());
  std::shared_ptr<std::vector<Target>> out[kinds];
  for (std::size_t k = 0; k < kinds; ++k)
    out[k] = into.add<Target>(from.name_of(names[k]), shape.of[k], shape.elements[k], reference::quiet_nan<Target>());
  std::mutex tallies;
  std::int64_t const tasks = (s.n + rows_of_a_task - 1) / rows_of_a_task;
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * tasks, [&](std::int64_t task) {
    std::int64_t const b = task / tasks / s.hq, h = task / tasks % s.hq, i0 = task % tasks * rows_of_a_task;
    reference::machine::row_rounder<Target, T> rounder(p);
    rounder.each(b, h, i0, std::min(s.n, i0 + rows_of_a_task), [&](reference::machine::rounded_row<Target> const& row) {
      std::int64_t const at = (b * s.hq + h) * s.n + row.i;
      std::ranges::copy(row.o, out[o]->begin() + at * s.dv);
      std::ranges::copy(row.weights, out[weights]->begin() + at * s.m);
      (*out[lse])[static_cast<std::size_t>(at)] = row.lse;
    });
    std::scoped_lock const lock(tallies);
    made.rounded += rounder.tally();
  });
}

template <class T>
void solve_enclosed(problem::instance<T> const& p, recorded_problem const& from, tensors& into) {
  shapes const shape(p.size(), p.rank());
  std::shared_ptr<std::vector<double>> low[kinds], high[kinds];
  for (std::size_t k = 0; k < kinds; ++k) {
    double const fill = k == lse ? -reference::infinity : quiet;
    low[k] = into.add<double>(from.name_of(names[k]) + ".lower", shape.of[k], shape.elements[k], fill);
    high[k] = into.add<double>(from.name_of(names[k]) + ".upper", shape.of[k], shape.elements[k], fill);
  }
  for_each_element(p, [&](kind k, std::size_t at, auto const& exact) {
    bool const finite = exact.kind == value_kind::finite;
    (*low[k])[at] = finite ? reference::lower(exact.value) : quiet;
    (*high[k])[at] = finite ? reference::upper(exact.value) : quiet;
  });
}

template <class T>
void solve_digits(problem::instance<T> const& p, recorded_problem const& from, int digits, solution& into) {
  shapes const shape(p.size(), p.rank());
  std::vector<std::string> text[kinds];
  for (std::size_t k = 0; k < kinds; ++k) text[k].assign(static_cast<std::size_t>(shape.elements[k]), k == lse ? "-inf" : "nan");
  std::atomic<std::int64_t> undecided = 0;
  for_each_element(p, [&](kind k, std::size_t at, auto const& exact) {
    if (exact.kind != value_kind::finite) {
      text[k][at] = "nan";
      return;
    }
    auto const printed = reference::to_decimal(exact.value, digits);
    text[k][at] = printed ? *printed : "undecided";
    if (!printed) ++undecided;
  });
  into.undecided += undecided;
  for (std::size_t k = 0; k < kinds; ++k)
    for (std::size_t at = 0; at < text[k].size(); ++at) {
      std::vector<std::int64_t> index(shape.of[k].size());
      auto rest = static_cast<std::int64_t>(at);
      for (std::size_t axis = index.size(); axis-- > 0; rest /= shape.of[k][axis]) index[axis] = rest % shape.of[k][axis];
      into.text += fmt::format("{}[{}] {}\n", from.name_of(names[k]), fmt::join(index, ", "), text[k][at]);
    }
}

}  // namespace

result<solution> run_solve(solve_options const& options) {
  auto const file = read_safetensors(options.inputs);
  if (!file) return file.why();
  auto const recorded = recorded_problems(file.value(), options.flags);
  if (!recorded) return recorded.why();
  solution made;
  tensors into;
  for (recorded_problem const& each : recorded.value().problems) {
    auto const asked = problem::make_instance(each.asked.arguments());
    if (!asked) return asked.why();
    std::visit(
        [&](auto const& p) {
          problem::sizes const& s = p.size();
          made.elements += s.b * s.hq * s.n * (s.dv + s.m + 1);
          if (options.digits) return solve_digits(p, each, *options.digits, made);
          if (!options.round) return solve_enclosed(p, each, into);
          switch (*options.round) {
            case problem::element_type::f64: return solve_rounded<double>(p, each, into, made);
            case problem::element_type::f16: return solve_rounded<problem::f16>(p, each, into, made);
            case problem::element_type::bf16: return solve_rounded<problem::bf16>(p, each, into, made);
            default: return solve_rounded<float>(p, each, into, made);
          }
        },
        asked.value());
  }
  made.undecided += made.rounded.undecided;
  if (options.digits) return made;
  auto bytes = into.file({{"attest", options.round ? "correctly rounded" : "outward-rounded enclosures"}});
  if (!bytes) return bytes.why();
  made.file = std::move(bytes).value();
  return made;
}

}  // namespace attest::audit
