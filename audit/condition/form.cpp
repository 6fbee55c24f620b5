#include "audit/condition/form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// The memory form that strides of K say, where one says them.
memory_form memory_of(problem::layout const& k) {
  auto const &shape = k.shape, &stride = k.stride;
  memory_form form;
  form.shared_batch = shape[0] > 1 && stride[0] == 0;
  form.shared_heads = shape[1] > 1 && stride[1] == 0;
  form.heads_inside = shape[1] > 1 && shape[2] > 1 && stride[1] > 0 && stride[2] > stride[1];
  if (shape[2] > 1 && stride[2] > 0 && stride[2] < shape[3]) form.overlap = shape[3] - stride[2];
  return form;
}

/// Sets the axes of the mask or bias if they differ from the usual axes of its feature.
void take_axes(owned_tensor const& tensor, feature_group group, call_form& form) {
  auto const& shape = tensor.layout.shape;
  problem::sizes const& s = form.size;
  broadcast_axes const over{shape[0] > 1, shape[1] > 1, shape[2] > 1};
  for (feature_row const& row : feature_table()) {
    if (row.group != group || !form.options.has(row.id)) continue;
    auto const usual = *row.axes;
    if ((s.b > 1 && usual[0] != over[0]) || (s.hq > 1 && usual[1] != over[1]) || (s.n > 1 && usual[2] != over[2]))
      axes_over(form, group) = over;
  }
}

void take_mask(owned_tensor const& mask, call_form& form) {
  take_axes(mask, feature_group::mask, form);
  for (std::byte const byte : mask.bytes) form.mask_byte = std::max(form.mask_byte, static_cast<std::uint8_t>(byte));
}

/// The call of attention whose gradients are asked for.
problem_draft without_gradients(problem_draft draft) {
  draft.d_out.reset(), draft.handed_o.reset(), draft.handed_lse.reset();
  draft.of = &problem::attention;
  return draft;
}

/// What a kernel needs in every call is no feature of the form where it has the value that any call gets.
void see_as_supplied(call_form& form, problem_draft const& p, needed_inputs const& usual) {
  using enum needed_inputs::input;
  form.supplied = usual;
  for (feature_row const& row : feature_table())
    if ((row.group == feature_group::mask && usual.has(mask)) ||
        (row.group == feature_group::bias && usual.has(bias)) ||
        (row.group == feature_group::entries && usual.has_entries_of(p)) ||
        (row.id == feature::softcap && usual.has(softcap)) || (row.id == feature::sink && usual.has(sink)))
      form.options.remove(row.id);
}

}  // namespace

std::optional<call_form> form_asked(audit_case const& of, std::size_t at, needed_inputs const& needs) {
  problem_draft const& draft = of.call(at).draft();
  bool const made_from_form = at == 0 && of.form;
  auto form = made_from_form ? of.form : draft.d_out ? form_of(without_gradients(draft)) : form_of(draft);
  if (!form) return std::nullopt;
  form->threads = of.threads_of(at);
  form->memory = of.memory_of(at);
  if (made_from_form) return form;
  see_as_supplied(*form, draft, needs.usual_in(draft, form->size));
  if (form->memory == memory_form{}) form->memory = memory_of(draft.k.layout);
  if (draft.mask) take_mask(*draft.mask, *form);
  if (draft.bias) take_axes(*draft.bias, feature_group::bias, *form);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (draft.band != problem::band{} && draft.band.diagonal != band_of(*form).diagonal)
    form->diagonal = std::clamp(draft.band.diagonal, -most, most);
  if (draft.softcap != 0 && draft.softcap != usual_cap) form->cap = draft.softcap;
  std::int64_t const left = std::clamp<std::int64_t>(draft.band.left, 0, std::int64_t{1} << 20);
  if (form->options.has(feature::window)) form->length = left + 1;
  if (form->options.has(feature::symmetric_window)) form->length = std::max<std::int64_t>(left, 1);
  return form;
}

std::vector<value_form> special_values_of(problem_draft const& draft) {
  std::vector<value_form> values(special_values.begin(), special_values.end());
  bool has_nan = false;
  for (std::size_t at = 0, all = draft.v.spanned_elements(); at < all && !has_nan; ++at)
    has_nan = std::isnan(load(draft.v, at));
  if (!has_nan) std::erase_if(values, [](value_form of) { return of != value_form::far_block; });
  return values;
}

std::vector<call_form> forms_before(audit_case const& of, std::size_t at, needed_inputs const& needs) {
  std::vector<call_form> forms;
  auto const add = [&](std::size_t call) {
    if (auto form = form_asked(of, call, needs)) forms.push_back(*std::move(form));
  };
  auto const is_warm_up = [&](std::size_t call) { return of.further[call - 1].is == relation::warm_up; };
  bool const early = at > 0 && is_warm_up(at);
  for (std::size_t call = 1; call <= of.further.size() && !(early && call == at); ++call)
    if (is_warm_up(call)) add(call);
  if (at == 0 || early) return forms;
  for (int again = 0; again < (of.once ? 1 : 2); ++again) add(0);
  for (std::size_t call = 1; call < at; ++call)
    if (!is_warm_up(call)) add(call);
  return forms;
}

}  // namespace attest::audit
