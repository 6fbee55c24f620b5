#include "audit/session/other_layout.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/files/axis_orders.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

constexpr double most_products = 0x1p26;

struct tried_reading {
  problem_draft draft;
  owned_tensor o;
  other_reading says;
};

owned_tensor in_another(axis_order now, axis_order then, owned_tensor tensor) {
  return from_order(then, to_order(now, std::move(tensor)));
}

/// No element of O is wrong, and some element is judged.
bool holds(tried_reading&& read, owned_outputs const& others, contract const& claim) {
  auto const problem = owned_problem::make(std::move(read.draft));
  if (!problem || multiplications(problem.value().size()) > most_products) return false;
  owned_outputs const expected = zero_outputs(problem.value());
  if (!expected.o || expected.o->layout.rank != read.o.layout.rank || expected.o->layout.shape != read.o.layout.shape)
    return false;
  // The other outputs are judged with it where they fit, too.
  owned_outputs all{.o = compacted(std::move(read.o))};
  if (others.lse && expected.lse && others.lse->layout.shape == expected.lse->layout.shape) all.lse = others.lse;
  judgement const found = judge_by_law(problem.value(), all, claim);
  return found.failed == 0 && found.judged() > 0;
}

/// The draft without the outputs' order: q, k, v and o of dense slots in another order of axes.
std::vector<tried_reading> in_other_orders(recorded_call const& said, owned_problem const& problem,
                                           owned_tensor const& o) {
  std::vector<tried_reading> all;
  problem_draft const& draft = problem.draft();
  int const rank = problem.rank();
  if (rank < 3 || draft.q_offsets || draft.k_offsets) return all;
  axis_order const now = said.order == axis_order::thd ? axis_order::bhnd : said.order;
  bool const paged = draft.block_table.has_value();
  for (axis_order const then : {now, axis_order::bhnd, axis_order::bnhd, axis_order::nbhd})
    for (bool const other_pools : {false, true}) {
      if ((then == now && !other_pools) || (!paged && other_pools)) continue;
      if (then != now && rank == 3 && now != axis_order::bhnd && then != axis_order::bhnd) continue;  // they are one
      tried_reading read{draft, in_another(now, then, o), {}};
      read.draft.q = in_another(now, then, draft.q);
      for (owned_tensor* const rows : {&read.draft.k, &read.draft.v})
        if (!paged) *rows = in_another(now, then, std::move(*rows));
        else if (other_pools) *rows = with_swapped_axes(std::move(*rows));
      bool const to_nhd = other_pools == (said.pools == pool_order::hnd);
      std::string const pools = fmt::format("--kv-layout {}", to_nhd ? "nhd" : "hnd");
      if (then == now) {
        read.says = {fmt::format("with pools [pages, {}, d] every element is right", to_nhd ? "page, h" : "h, page"),
                     pools, ""};
      } else {
        read.says = {
            fmt::format("in {} every element is right", axes_of(then, rank)),
            fmt::format("--layout {}{}", axis_orders[static_cast<std::size_t>(then)], other_pools ? " " + pools : ""),
            ""};
      }
      read.says.mistake = read.says.remedy + " is missing";
      all.push_back(std::move(read));
    }
  return all;
}

/// These readings of a call without a band, under a causal band of each corner.
std::vector<tried_reading> with_causal_bands(std::vector<tried_reading> const& orders) {
  std::vector<tried_reading> all;
  for (tried_reading const& read : orders)
    for (bool const at_the_end : {false, true}) {
      std::string const causal = fmt::format("--causal {}", at_the_end ? "bottom-right" : "top-left");
      all.push_back(read);
      all.back().draft.band.right = 0, all.back().draft.align = at_the_end ? 1 : 0;
      other_reading& says = all.back().says;
      says.words = fmt::format("under {} {}", causal, says.words);
      says.remedy += ' ' + causal, says.mistake = says.remedy + " are missing";
    }
  return all;
}

/// Are the heads of a tensor [b, h, n, d] its first `period` heads again and again?
bool repeats(owned_tensor const& tensor, std::int64_t period) {
  auto const& shape = tensor.layout.shape;
  auto const bytes = compact_bytes(tensor);
  std::size_t const head = static_cast<std::size_t>(shape[2] * shape[3]) * problem::size_of(tensor.type);
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = period; h < shape[1]; ++h) {
      auto const at = [&](std::int64_t of) {
        return bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(b * shape[1] + of) * head);
      };
      if (!std::equal(at(h), at(h) + static_cast<std::ptrdiff_t>(head), at(h % period))) return false;
    }
  return true;
}

owned_tensor first_heads(owned_tensor tensor, std::int64_t heads) {
  tensor.layout.shape[1] = heads;
  return compacted(std::move(tensor));
}

/// The reading in which each repeated head of K and V stands once, as the kernel read them.
std::optional<tried_reading> without_repeats(owned_problem const& problem, owned_tensor const& o) {
  problem_draft const& draft = problem.draft();
  problem::sizes const& s = problem.size();
  if (problem.rank() != 4 || !draft.has_slots() || draft.merge) return std::nullopt;
  for (std::int64_t heads = 1; heads < s.hk; ++heads) {
    if (s.hk % heads != 0 || !repeats(draft.k, heads) || !repeats(draft.v, heads)) continue;
    tried_reading read{draft, o, {}};
    read.draft.k = first_heads(draft.k, heads), read.draft.v = first_heads(draft.v, heads);
    read.says = {fmt::format("the heads of k and v are the first {} again and again, and with these alone every "
                             "element is right",
                             heads),
                 "store them as the kernel read them, without the repetition",
                 "k and v are stored with repeated heads"};
    return read;
  }
  return std::nullopt;
}

/// The readings in which the tensors change places, as callers of the two functions of the Python package mix them up.
std::vector<tried_reading> in_other_places(owned_problem const& problem, owned_tensor const& o) {
  problem_draft const& draft = problem.draft();
  auto const is_like_o = [&](owned_tensor const& other) {
    return other.type == o.type && other.layout.rank == o.layout.rank && other.layout.shape == o.layout.shape;
  };
  if (draft.block_table || !is_like_o(draft.q) || !is_like_o(draft.k) || !is_like_o(draft.v)) return {};
  tried_reading o_first{draft, draft.q, {}}, o_last{draft, draft.v, {}};
  o_first.draft.q = draft.k, o_first.draft.k = draft.v, o_first.draft.v = o;
  o_last.draft.q = o, o_last.draft.k = draft.q, o_last.draft.v = draft.k;
  o_first.says = {"with o given first, as attest.assert_attention takes it, every element is right",
                  "attest.verify takes q, k, v, o", "o is given first, and attest.verify takes q, k, v, o"};
  o_last.says = {"with o given last, as attest.verify takes it, every element is right",
                 "attest.assert_attention takes o, q, k, v",
                 "o is given last, and attest.assert_attention takes o, q, k, v"};
  return {std::move(o_first), std::move(o_last)};
}

}  // namespace

std::optional<other_reading> right_reading(recorded_case const& recorded, contract const& claim) {
  owned_problem const& problem = recorded.input.problem;
  auto const& outputs = recorded.outputs.front();
  if (problem.draft().merge || !outputs || !outputs->o || multiplications(problem.size()) > most_products)
    return std::nullopt;
  auto const first_right = [&](std::vector<tried_reading> readings) -> std::optional<other_reading> {
    for (tried_reading& read : readings) {
      other_reading says = read.says;
      if (holds(std::move(read), *outputs, claim)) return says;
    }
    return std::nullopt;
  };
  auto const orders = [&] { return in_other_orders(recorded.calls.front(), problem, *outputs->o); };
  if (auto says = first_right(orders())) return says;
  std::vector<tried_reading> others = in_other_places(problem, *outputs->o);
  if (auto read = without_repeats(problem, *outputs->o)) others.insert(others.begin(), *std::move(read));
  if (auto says = first_right(std::move(others))) return says;
  return problem.draft().band == problem::band{} ? first_right(with_causal_bands(orders())) : std::nullopt;
}

named_cause cause_of(other_reading const& reading, std::int64_t failing) {
  named_cause cause;
  cause.mistakes = {{.name = "layout", .sentence = reading.mistake, .explains = failing}};
  cause.explains = cause.of = cause.failed = failing;
  cause.recorded = true;
  return cause;
}

std::string clause_of(other_reading const& reading) { return fmt::format("; {}: {}", reading.words, reading.remedy); }

}  // namespace attest::audit
