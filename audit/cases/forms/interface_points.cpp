#include "audit/cases/forms/interface_points.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace attest::audit {
namespace {

using problem::layout;
using points = std::vector<interface_point>;

/// Where the rows of a tensor of rank 4 lie.
enum class lie : std::uint8_t { compact, row_gaps, head_gaps, heads_inside };
constexpr std::string_view names_of_lies[]{"compact", "gaps between rows", "gaps between heads", "heads inside rows"};

bool lies(layout const& of, lie as) {
  auto const& [rank, shape, stride] = of;
  if (shape[1] < 2 || shape[2] < 2 || stride[1] == 0 || stride[2] == 0) return false;
  bool const inside = stride[1] < stride[2];
  switch (as) {
    case lie::compact: return stride[2] == shape[3] && stride[1] == shape[2] * shape[3];
    case lie::row_gaps: return !inside && stride[2] > shape[3];
    case lie::head_gaps: return !inside && stride[2] == shape[3] && stride[1] > shape[2] * shape[3];
    case lie::heads_inside: return inside && stride[1] >= shape[3];
  }
  return false;
}

bool lies(layout const& usual, call_tensor which, memory_form const& memory, lie as) {
  auto const there = formed(usual, which, memory);
  return there && lies(*there, as);
}

template <class Tensor>
void add_layouts(points& to, std::string const& field, std::string_view prefix, call_tensor which, Tensor tensor) {
  for (std::size_t at = 0; at < std::size(names_of_lies); ++at)
    to.push_back({field, fmt::format("{}{}", prefix, names_of_lies[at]), [=](call_view const& c) {
                    owned_tensor const* const t = tensor(c);
                    return t && lies(t->layout, which, c.memory, static_cast<lie>(at));
                  }});
}

void add_tensors(points& to) {
  auto const slots = [](auto member) {
    return [member](call_view const& c) { return c.p.has_slots() ? &(c.p.*member) : nullptr; };
  };
  auto const pool = [](auto member) {
    return [member](call_view const& c) { return c.p.block_table ? &(c.p.*member) : nullptr; };
  };
  auto const optional = [](auto member) {
    return [member](call_view const& c) { return c.p.*member ? &*(c.p.*member) : nullptr; };
  };
  add_layouts(to, "q", "", call_tensor::q, slots(&problem_draft::q));
  add_layouts(to, "k", "", call_tensor::k, slots(&problem_draft::k));
  add_layouts(to, "v", "", call_tensor::v, slots(&problem_draft::v));
  add_layouts(to, "k", "a pool, ", call_tensor::k, pool(&problem_draft::k));
  add_layouts(to, "v", "a pool, ", call_tensor::v, pool(&problem_draft::v));
  add_layouts(to, "q_offsets", "q with ", call_tensor::q,
              [](call_view const& c) { return c.p.q_offsets ? &c.p.q : nullptr; });
  add_layouts(to, "k_offsets", "k with ", call_tensor::k,
              [](call_view const& c) { return c.p.k_offsets ? &c.p.k : nullptr; });
  add_layouts(to, "mask", "", call_tensor::mask, optional(&problem_draft::mask));
  add_layouts(to, "bias", "", call_tensor::bias, optional(&problem_draft::bias));
  add_layouts(to, "keep", "", call_tensor::keep, optional(&problem_draft::keep));
  add_layouts(to, "block_mask", "", call_tensor::beside, optional(&problem_draft::block_mask));
  for (std::size_t at = 0; at < std::size(names_of_lies); ++at)
    to.push_back({"out", std::string(names_of_lies[at]), [=](call_view const& c) {
                    auto const usual = layout::compact({c.s.b, c.s.hq, c.s.n, c.s.dv});
                    return c.p.has_slots() && lies(usual, call_tensor::o, c.memory, static_cast<lie>(at));
                  }});
  for (char const* const output : {"lse", "weights"})
    for (bool const gaps : {false, true})
      to.push_back(
          {output, gaps ? "gaps" : "compact", [=](call_view const& c) { return gaps == (c.memory.row_gap > 0); }});
}

/// The members of problem_draft by the names of the optional tensors.
struct optional_members {
  using member = std::optional<owned_tensor> problem_draft::*;
  member mask = &problem_draft::mask, bias = &problem_draft::bias, sink = &problem_draft::sink,
         q_lengths = &problem_draft::q_lengths, k_lengths = &problem_draft::k_lengths,
         q_offsets = &problem_draft::q_offsets, k_offsets = &problem_draft::k_offsets,
         block_table = &problem_draft::block_table, block_mask = &problem_draft::block_mask,
         keep = &problem_draft::keep, d_out = &problem_draft::d_out;
};

/// Which axes of [b, hq, n, m] an optional tensor has, and its type.
void add_optional(points& to, problem::element_type type) {
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, auto member) {
        if (row.version > 2) return;  // of a backward pass
        std::string const field(row.name);
        to.push_back({field, "given", [=](call_view const& c) { return (c.p.*member).has_value(); }});
        if (row.is_floating() && type != problem::element_type::f32)
          for (auto const own : {type, problem::element_type::f32})
            to.push_back({field, "of type " + std::string(problem::name_of(own)),
                          [=](call_view const& c) { return (c.p.*member) && (c.p.*member)->type == own; }});
        if (row.rank != 4 || row.name == "block_mask" || row.name == "keep") return;
        for (broadcast_axes const& axes : all_axes)
          to.push_back({field,
                        fmt::format("[{}, {}, {}, m]", axes[0] ? "b" : "1", axes[1] ? "hq" : "1", axes[2] ? "n" : "1"),
                        [=](call_view const& c) {
                          if (!(c.p.*member) || std::min({c.s.b, c.s.hq, c.s.n}) < 2) return false;
                          auto const& shape = (c.p.*member)->layout.shape;
                          return (shape[0] > 1) == axes[0] && (shape[1] > 1) == axes[1] && (shape[2] > 1) == axes[2];
                        }});
      },
      optional_members{});
}

void add_sizes(points& to) {
  auto const at = [&](char const* field, char const* name, auto size, std::initializer_list<std::int64_t> all) {
    for (std::int64_t const x : all)
      to.push_back({field, fmt::format("{} = {}", name, x), [=](call_view const& c) { return size(c) == x; }});
  };
  auto const where = [&](char const* field, char const* name, auto holds) { to.push_back({field, name, holds}); };
  std::initializer_list<std::int64_t> const counts{0, 1, 2, 32768, 65535, 65536, 65537};
  at("q", "b", [](auto& c) { return c.s.b; }, counts);
  at("q", "hq", [](auto& c) { return c.s.hq; }, counts);
  at("q", "n", [](auto& c) { return c.s.n; }, counts);
  where("q", "b·hq above 65,536", [](auto& c) { return c.s.b > 1 && c.s.hq > 1 && c.s.b * c.s.hq > 65536; });
  at("k", "m", [](auto& c) { return c.s.m; }, counts);
  at("q", "d", [](auto& c) { return c.s.d; }, {0, 1, 8, 64, 80, 128, 192, 256, 576});
  at("v", "dv", [](auto& c) { return c.s.dv; }, {0, 1, 8, 64, 128, 256, 512});
  auto const group = [](auto& c) { return c.s.hk > 0 ? c.s.hq / c.s.hk : 0; };
  at("k", "hq/hk", group, {1, 2, 3, 4, 6, 8, 16, 20});
  for (std::int64_t const residue : {1, 37})
    where("q", residue == 1 ? "n mod 64 = 1" : "n mod 64 = 37",
          [=](auto& c) { return c.s.n > 64 && c.s.n % 64 == residue; });
  where("k", "m mod 32 = 1", [](auto& c) { return c.s.m > 64 && c.s.m % 32 == 1; });
  where("k", "n = m in whole tiles of 128", [](auto& c) { return c.s.n == c.s.m && c.s.n > 128 && c.s.n % 128 == 0; });
  auto const page = [](auto& c) { return c.p.block_table ? c.p.k.layout.shape[2] : 0; };
  at("block_table", "page", page, {1, 7, 16, 64, 128, 256});
  where("block_table", "an entry of three pages of 64 or more",
        [=](auto& c) { return page(c) >= 64 && c.s.m > 2 * page(c); });
  for (bool const q : {true, false})
    for (bool const divides : {true, false})
      where(q ? "block_q" : "block_k", divides ? "divides the rows" : "does not divide the rows", [=](auto& c) {
        std::int64_t const block = q ? c.p.block_q : c.p.block_k, rows = q ? c.s.n : c.s.m;
        return block > 0 && (rows % block == 0) == divides;
      });
}

void add_numbers(points& to) {
  auto const where = [&](char const* field, char const* name, auto holds) { to.push_back({field, name, holds}); };
  where("abi_version", "1", [](auto& c) { return c.p.is_of_version_1(); });
  where("abi_version", "2", [](auto& c) { return !c.p.is_of_version_1(); });
  for (std::int32_t const threads : {0, 1, 2, 3})
    where("threads",
          threads == 0   ? "0"
          : threads == 1 ? "1"
          : threads == 2 ? "2"
                         : "above 2",
          [=](auto& c) { return threads == 3 ? c.threads > 2 : c.threads == threads; });
  auto const masked = [](call_view const& c) { return c.p.mask || c.p.bias || c.p.band != problem::band{}; };
  where("scale", "1/√d", [](auto& c) { return !c.p.scale; });
  where("scale", "1/√d at dv ≠ d ≥ 64", [](auto& c) { return !c.p.scale && c.s.d >= 64 && c.s.d != c.s.dv; });
  where("scale", "0 beside a mask, bias or band", [=](auto& c) { return c.p.scale && *c.p.scale == 0 && masked(c); });
  where("scale", "below 0 beside a mask, bias or band",
        [=](auto& c) { return c.p.scale && *c.p.scale < 0 && masked(c); });
  where("scale", "below 0.001", [](auto& c) { return c.p.scale && *c.p.scale > 0 && *c.p.scale < 1e-3; });
  where("scale", "above 10", [](auto& c) { return c.p.scale && *c.p.scale > 10; });
  where("softcap", "below 1", [](auto& c) { return c.p.softcap > 0 && c.p.softcap < 1; });
  where("softcap", "1 to 100", [](auto& c) { return c.p.softcap >= 1 && c.p.softcap <= 100; });
  where("softcap", "above 100", [](auto& c) { return c.p.softcap > 100; });
  auto const banded = [](call_view const& c) { return c.p.band.left >= 0 || c.p.band.right >= 0; };
  where("diagonal", "below 0", [=](auto& c) { return banded(c) && c.p.band.diagonal < 0; });
  where("diagonal", "0", [=](auto& c) { return banded(c) && c.p.band.diagonal == 0; });
  where("diagonal", "m − n above 0",
        [=](auto& c) { return banded(c) && c.s.m > c.s.n && c.p.band.diagonal == c.s.m - c.s.n; });
  where("diagonal", "above 1,000", [=](auto& c) { return banded(c) && c.p.band.diagonal > 1000; });
  for (bool const left : {true, false})
    for (int const which : {0, 1, 2, 3})
      where(left ? "left" : "right",
            which == 0   ? "−1"
            : which == 1 ? "0"
            : which == 2 ? "1 to 64"
                         : "above 64",
            [=](auto& c) {
              std::int64_t const x = left ? c.p.band.left : c.p.band.right;
              return which == 0 ? x < 0 && banded(c) : which == 1 ? x == 0 : which == 2 ? x >= 1 && x <= 64 : x > 64;
            });
  where("align", "0 beside entries", [=](auto& c) { return !c.p.is_dense() && banded(c) && c.p.align == 0; });
  where("align", "1", [](auto& c) { return c.p.align == 1; });
  where("dropout", "0 < p < 1", [](auto& c) { return c.p.dropout > 0; });
}

/// Each two options of a call that both have more than one tile of keys.
void add_pairs_beyond_a_tile(points& to) {
  constexpr feature options[]{feature::causal, feature::window, feature::mask,  feature::padding,
                              feature::bias,   feature::alibi,  feature::scale, feature::softcap};
  for (feature const one : options)
    for (feature const other : options)
      if (one < other && !exclude(one, other))
        to.push_back({std::string(row_of(other).name == "softcap"              ? "softcap"
                                  : row_of(other).group == feature_group::mask ? "mask"
                                  : row_of(other).group == feature_group::bias ? "bias"
                                                                               : "scale"),
                      fmt::format("{} beside {}, m ≥ 300", row_of(other).name, row_of(one).name),
                      [=](call_view const& c) {
                        auto const has = [&](feature of) { return row_of(of).present(row_of(of), c.p, c.s); };
                        return c.s.m >= 300 && has(one) && has(other);
                      }});
}

}  // namespace

std::span<interface_point const> interface_points(problem::element_type type) {
  static std::map<problem::element_type, points> const all = [] {
    std::map<problem::element_type, points> made;
    for (problem::element_type const of : {problem::element_type::f32, problem::element_type::f64,
                                           problem::element_type::f16, problem::element_type::bf16}) {
      points& to = made[of];
      add_tensors(to), add_optional(to, of), add_sizes(to), add_numbers(to), add_pairs_beyond_a_tile(to);
    }
    return made;
  }();
  return all.at(type);
}

void points_asked::add(call_view const& call) {
  for (std::size_t at = 0; at < all_.size(); ++at)
    if (!asked_[at]) asked_[at] = all_[at].has(call);
}

void points_asked::add(audit_case const& of) {
  for (std::size_t at = 0; at <= of.further.size(); ++at) {
    owned_problem const& problem = of.call(at);
    if (problem.rank() == 4 && !problem.draft().merge)
      add(call_view{problem.draft(), problem.size(), of.memory_of(at), of.threads_of(at)});
  }
}

std::vector<interface_point const*> points_asked::missing() const {
  std::vector<interface_point const*> all;
  for (std::size_t at = 0; at < all_.size(); ++at)
    if (!asked_[at]) all.push_back(&all_[at]);
  return all;
}

std::string points_asked::words() const {
  std::vector<interface_point const*> const absent = missing();
  std::string text = fmt::format("interface: {} of {} points were answered", count() - absent.size(), count());
  std::map<std::string_view, std::vector<std::string_view>> by_field;
  for (interface_point const* point : absent) by_field[point->field].push_back(point->name);
  char const* before = "; not ";
  for (auto const& [field, names] : by_field) {
    std::ptrdiff_t const all = std::ranges::count(all_, field, &interface_point::field);
    text += before;
    if (std::ssize(names) == all) text += fmt::format("all of {}", field);
    else if (names.size() == 1) text += fmt::format("{}: {}", field, names.front());
    else text += fmt::format("{} of the {} of {}", names.size(), all, field);
    before = ", ";
  }
  return text;
}

}  // namespace attest::audit
