// Problems in every memory form, and the answers of a kernel to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/tensors/elements.hpp"
#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests {

inline constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 31) + 64;

struct named_form {
  std::string name;
  memory_form form;
};

inline std::vector<named_form> const& forms() {
  static std::vector<named_form> const all{
      {"plain", {}},
      {"V in K", {.v_in_k = true}},
      {"shared batch", {.shared_batch = true}},
      {"shared heads", {.shared_heads = true}},
      {"overlap", {.overlap = 3}},
      {"heads inside", {.heads_inside = true}},
      {"out inside", {.o_inside = true}},
      {"head gap", {.head_gap = 5}},
      {"out inside with gaps", {.o_inside = true, .row_gap = 2, .head_gap = 3}},
      {"unaligned", {.unaligned = true}},
      {"row gap", {.row_gap = 5}},
      {"wide row gap", {.row_gap = 1 << 20}},
      {"far batch", {.far_batch = beyond_32_bits}},
      {"far heads", {.far_head = beyond_32_bits}},
      {"far rows", {.far_row = beyond_32_bits}},
      {"near rows", {.far_row = 7}},
      {"all together",
       {.v_in_k = true,
        .shared_batch = true,
        .shared_heads = true,
        .unaligned = true,
        .row_gap = 3,
        .far_batch = beyond_32_bits,
        .far_head = beyond_32_bits}},
      {"far inside", {.v_in_k = true, .heads_inside = true, .row_gap = 1, .far_batch = beyond_32_bits, .far_head = 5}},
      {"overlap in K", {.v_in_k = true, .shared_heads = true, .overlap = 4}},
  };
  return all;
}

inline memory_form const& form_named(std::string const& name) {
  auto const found = std::ranges::find(forms(), name, &named_form::name);
  REQUIRE(found != forms().end());
  return found->form;
}

/// A problem that can have the form: b = 2, hq = 4, hk = 2, n = 3, m = 5, d = 8, dv = 4, a mask and a bias.
inline owned_problem problem_for(memory_form const& form, element_type type = element_type::f32) {
  auto const value = [](std::int64_t seed) {
    return 0.125 * static_cast<double>((seed * 37 + seed / 8 * 11) % 23) - 1;
  };
  auto const rows = [&](std::int64_t last, std::int64_t first_seed) {
    auto tensor = owned_tensor::compact(type, {2, 2, 5, last});
    fill(tensor, [&](auto b, auto h, auto j, auto c) {
      std::int64_t const entry = form.shared_batch ? 0 : b, head = form.shared_heads ? 0 : h;
      std::int64_t const width = form.v_in_k ? 8 : last;
      return value(first_seed + 211 * entry + 101 * head + j * (width - form.overlap) + c);
    });
    return tensor;
  };
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {2, 4, 3, 8});
  fill(draft.q, [&](auto b, auto h, auto i, auto c) { return value(b * 401 + h * 97 + i * 8 + c); });
  draft.k = rows(8, 5);
  draft.v = rows(4, form.v_in_k ? 5 : 900);
  draft.mask = owned_tensor::compact(element_type::u8, {2, 4, 3, 5});
  fill(*draft.mask, [](auto b, auto h, auto i, auto j) { return (b + 2 * h + i + j) % 4 != 3 ? 1.0 : 0.0; });
  draft.bias = owned_tensor::compact(type, {2, 1, 3, 5});
  fill(*draft.bias, [&](auto b, auto, auto i, auto j) { return value(b * 31 + i * 7 + j); });
  return valid(std::move(draft));
}

struct answer {
  call_report report;
  owned_outputs outputs;
};

inline answer ask(isolated_kernel& kernel, owned_problem const& problem, memory_form const& form,
                  placement where = placement::end) {
  answer got;
  auto report =
      kernel.run(problem, {.want_lse = true, .want_weights = true, .placement = where, .memory = form}, got.outputs);
  if (!report) FAIL(report.why().message());
  got.report = std::move(report).value();
  return got;
}

}  // namespace attest::tests
