#include "audit/condition/traits.hpp"

#include <algorithm>
#include <array>

namespace attest::audit {
namespace {

using integer = std::int64_t;
using kind = condition_clause::kind;

call_form swapped(call_form form, feature from, feature to) {
  form.options.remove(from), form.options.add(to);
  return form;
}

/// Whether the form is wrong with any other feature of that group as well.
bool any_of_group(call_form const& base, feature option, form_asker const& ask) {
  return std::ranges::all_of(feature_table(), [&](feature_row const& row) {
    return row.group != row_of(option).group || row.id == option || ask(swapped(base, option, row.id)) == answer::wrong;
  });
}

/// Under which bands in the place of this one the form is wrong: that one, several, or any. A band that shows the same
/// pairs tells nothing.
condition_clause describe_band(call_form const& base, feature option, form_asker const& ask) {
  condition_clause clause{.is = kind::group};
  clause.option = option;
  clause.among.add(option);
  for (feature_row const& row : feature_table()) {
    if (row.group != feature_group::band || row.id == option) continue;
    call_form const other = swapped(base, option, row.id);
    answer const is = ask(other);
    if (is != answer::wrong) clause.is = kind::feature;
    else if (band_of(other) != band_of(base)) clause.among.add(row.id);
  }
  if (clause.is == kind::feature && clause.among.count() > 1) clause.is = kind::among;
  return clause;
}

condition_clause clause_of(kind is, feature option) {
  condition_clause clause{.is = is};
  clause.option = option;
  return clause;
}

/// The same with two batch entries, two heads and eight queries where there was one.
call_form widened(call_form form, bool batch, bool heads, bool queries) {
  problem::sizes& s = form.size;
  if (batch) s.b = std::max<integer>(s.b, 2);
  if (heads && s.hq == 1) s.hq = s.hk = 2;
  if (queries && s.n == 1) s.n = 8;
  return form;
}

/// Which axes the mask or bias must have: of a drawn one, where that is wrong as well.
condition_clause describe_shape(call_form& base, feature option, form_asker const& ask) {
  problem::sizes const& s = base.size;
  feature_group const group = row_of(option).group;
  feature const plain = group == feature_group::mask ? feature::mask : feature::bias;
  auto const declared = axes_of(option, base);
  call_form drawn = swapped(base, option, plain);
  auto& over = axes_over(drawn, group);
  over = {declared[0] && s.b > 1, declared[1] && s.hq > 1, declared[2] && s.n > 1};
  if (over == row_of(plain).axes) over.reset();
  if (ask(drawn) != answer::wrong) return clause_of(kind::feature, option);
  // Which hides less of what is wrong.
  base = drawn;
  over = axes_of(plain, drawn);
  condition_clause shape = clause_of(kind::shape, plain);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    call_form wide = widened(drawn, true, true, true);
    if (ask(wide) != answer::wrong) wide = widened(drawn, axis == 0, axis == 1, axis == 2);
    if (ask(wide) != answer::wrong) wide = drawn;
    call_form other = wide;
    bool const has = (*over)[axis];
    (*axes_over(other, group))[axis] = !has;
    if (ask(other) != answer::wrong) shape.over[axis] = has;
  }
  return shape;
}

/// The number of elements between batch entries, heads or rows that the form has, one of them alone.
integer& distance_of(memory_form& memory) {
  return memory.far_batch > 0 ? memory.far_batch : memory.far_head > 0 ? memory.far_head : memory.far_row;
}

/// From which reach on the base is wrong.
condition_clause describe_reach(call_form& base, form_asker const& ask, integer element_bytes) {
  condition_clause clause{.is = kind::memory};
  clause.trait = memory_trait::reach;
  // Of two along the axis, as far apart as the last is from the first.
  call_form two = base;
  problem::sizes& s = two.size;
  integer const group = std::max<integer>(s.hk > 0 ? s.hq / s.hk : 1, 1);
  integer& given_apart = distance_of(two.memory);
  if (base.memory.far_batch > 0) given_apart *= std::max<integer>(s.b - 1, 1), s.b = 2;
  else if (base.memory.far_head > 0) given_apart *= std::max<integer>(s.hq - 1, 1), s.hk = 2, s.hq = 2 * group;
  else given_apart *= std::max<integer>(std::max(s.n, s.m) - 1, 1), s.n = s.m = 2;
  if (ask(two) == answer::wrong) base = two;
  auto const apart = [&](integer distance) {
    call_form form = base;
    distance_of(form.memory) = distance;
    return form;
  };
  integer const given = distance_of(base.memory);
  auto const wrong = [&](integer distance) { return distance == given || ask(apart(distance)) == answer::wrong; };
  auto const reach = [&](integer distance) { return reach_of(apart(distance)); };
  // Least distance of such a reach.
  auto const distance_for = [&](integer elements) {
    integer low = 0, high = given;
    while (high - low > 1) {
      integer const middle = low + (high - low) / 2;
      (reach(middle) >= elements ? high : low) = middle;
    }
    return high;
  };
  for (integer const limit : {integer{1} << 31, integer{1} << 32})
    for (integer const unit : {element_bytes, integer{1}}) {
      integer const elements = limit / unit;
      if (reach(given) < elements || reach(1) >= elements) continue;
      integer const first = distance_for(elements);
      if (wrong(first) && !wrong(first - 1)) {
        base = apart(first);
        clause.reach = elements, clause.reach_unit = unit;
        return clause;
      }
    }
  integer low = 0, high = given;
  while (high - low > 1) {
    integer const middle = low + (high - low) / 2;
    (wrong(middle) ? high : low) = middle;
  }
  clause.reach = reach(high);
  base = apart(high);
  return clause;
}

/// Stride 0 over the batch or the heads, or over either.
condition_clause describe_stride_0(call_form const& base, memory_trait trait, form_asker const& ask) {
  condition_clause clause{.is = kind::memory};
  clause.trait = trait;
  call_form other = without(base, memory_trait::stride_0);
  problem::sizes& s = other.size;
  if (trait == memory_trait::stride_0_batch) {
    other.memory.shared_heads = true;
    if (s.hk == 1) s.hk *= 2, s.hq *= 2;
  } else {
    other.memory.shared_batch = true;
    s.b = std::max<integer>(s.b, 2);
  }
  if (ask(other) == answer::wrong) clause.trait = memory_trait::stride_0;
  return clause;
}

}  // namespace

std::vector<memory_trait> traits_of(memory_form const& memory) {
  std::vector<memory_trait> traits;
  if (memory.v_in_k) traits.push_back(memory_trait::v_in_k);
  if (memory.shared_batch) traits.push_back(memory_trait::stride_0_batch);
  if (memory.shared_heads) traits.push_back(memory_trait::stride_0_heads);
  if (memory.overlap > 0) traits.push_back(memory_trait::overlap);
  if (memory.heads_inside) traits.push_back(memory_trait::heads_inside);
  if (memory.unaligned) traits.push_back(memory_trait::byte_offset);
  if (memory.row_gap > 0) traits.push_back(memory_trait::gaps);
  if (memory.far_batch > 0 || memory.far_head > 0 || memory.far_row > 0) traits.push_back(memory_trait::reach);
  return traits;
}

std::vector<condition_clause> describe_features(call_form& base, form_asker const& ask) {
  std::vector<condition_clause> clauses;
  feature_set const options = base.options;
  options.each([&](feature option) {
    feature_group const group = row_of(option).group;
    // A bias whose axes do not matter has the usual axes of its feature by now.
    bool const any_bias = group == feature_group::bias && !base.bias_over && any_of_group(base, option, ask);
    bool const drawn = option == feature::bias || option == feature::batch_bias;
    if (group == feature_group::mask || (group == feature_group::bias && !any_bias && (base.bias_over || drawn)))
      return clauses.push_back(describe_shape(base, option, ask));
    if (option == feature::scale && base.scale.value_or(1) < 0) {
      call_form positive = base;
      positive.scale = -*base.scale;
      if (ask(positive) == answer::right) return clauses.push_back(clause_of(kind::negative_scale, option));
    }
    if (group == feature_group::band) return clauses.push_back(describe_band(base, option, ask));
    clauses.push_back(clause_of(any_bias ? kind::group : kind::feature, option));
  });
  return clauses;
}

std::vector<condition_clause> describe_memory(call_form& base, form_asker const& ask, std::int64_t element_bytes) {
  std::vector<condition_clause> clauses;
  for (memory_trait const trait : traits_of(base.memory)) {
    if (trait == memory_trait::reach) {
      clauses.push_back(describe_reach(base, ask, element_bytes));
    } else if (trait == memory_trait::stride_0_batch || trait == memory_trait::stride_0_heads) {
      clauses.push_back(describe_stride_0(base, trait, ask));
    } else {
      condition_clause clause{.is = kind::memory};
      clause.trait = trait;
      if (trait == memory_trait::heads_inside || trait == memory_trait::gaps) {
        // O alone, where it is wrong both with gaps and in another order.
        bool const gaps = trait == memory_trait::gaps;
        call_form other = widened(without(base, trait), false, true, true);
        other.memory.heads_inside = gaps, other.memory.row_gap = gaps ? 0 : 1;
        if (ask(other) == answer::wrong) clause.trait = memory_trait::o_apart;
      }
      clauses.push_back(clause);
    }
  }
  return clauses;
}

bool imply_many(std::vector<condition_clause> const& clauses, form_number of, call_form const& base) {
  std::size_t const axis = of == form_number::b ? 0 : of == form_number::heads ? 1 : of == form_number::n ? 2 : 3;
  return std::ranges::any_of(clauses, [&](condition_clause const& one) {
    if (one.is == kind::shape) return axis < 3 && one.over[axis] == true;
    if (one.is != kind::memory) return false;
    memory_form const& memory = base.memory;
    switch (one.trait) {
      case memory_trait::stride_0:
      case memory_trait::stride_0_batch:
      case memory_trait::stride_0_heads:
        return (axis == 0 && memory.shared_batch) || (axis == 1 && memory.shared_heads);
      case memory_trait::reach:
        return (axis == 0 && memory.far_batch > 0) || (axis == 1 && memory.far_head > 0) ||
               (axis >= 2 && memory.far_row > 0);
      case memory_trait::overlap: return of == form_number::m;
      case memory_trait::o_apart: return axis < 3;
      default: return false;
    }
  });
}

}  // namespace attest::audit
