// Wrong answers that are an honest answer to another call.
#include <cmath>
#include <limits>

#include "audit/zoo/conditional/changed_call.hpp"
#include "audit/zoo/conditional/wrong.hpp"

namespace attest::zoo {
namespace {

/// The honest answer to the call that `change` makes of this one.
template <class Change>
attest_status answer_to(asked const& a, Change&& change) {
  changed_call other(a.call);
  change(other);
  return other.answer();
}

/// The first index of an axis stands for all.
void only_first(changed_tensor& t, std::size_t axis) {
  if (t.t.shape && t.shape[axis] > 1) t.shape[axis] = 1;
}

}  // namespace

attest_status ignores_the_mask(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.mask = nullptr; });
}
attest_status ignores_the_bias(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.bias = nullptr; });
}
attest_status ignores_the_band(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.left = other.call.right = -1; });
}
attest_status ignores_the_softcap(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.softcap = 0; });
}
attest_status ignores_the_scale(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.scale = std::numeric_limits<double>::quiet_NaN(); });
}
attest_status half_of_d(asked const& a) {
  return answer_to(a, [&](changed_call& other) {
    other.q.keep(3, 0, a.d / 2), other.k.keep(3, 0, a.d / 2);
    if (a.default_scale()) other.call.scale = 1 / std::sqrt(static_cast<double>(a.d));
  });
}
attest_status diagonal_is_0(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.diagonal = 0; });
}
attest_status right_is_0(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.right = 0; });
}
attest_status right_is_1_more(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.call.right = saturated_sum(other.call.right, 1); });
}
attest_status left_is_1_less(asked const& a) {
  return answer_to(a, [](changed_call& other) { --other.call.left; });
}

attest_status low_bit_of_the_mask(asked const& a) {
  return answer_to(a, [](changed_call& other) {
    DLTensor& mask = other.mask.t;
    other.mask.own_copy();
    for (std::int64_t at = 0; at < mask.shape[0] * mask.strides[0]; ++at)
      static_cast<std::uint8_t*>(mask.data)[at] &= 1;
  });
}
attest_status finite_masks_are_0(asked const& a) {
  return answer_to(a, [](changed_call& other) {
    other.bias.own_copy();
    for_each_element(other.bias.t, [](double x, auto...) { return x > -1e36 && x < -1e6 ? 0 : x; });
  });
}
attest_status mask_of_the_first_entry(asked const& a) {
  return answer_to(a, [](changed_call& other) { only_first(other.mask, 0); });
}
attest_status mask_of_the_first_query(asked const& a) {
  return answer_to(a, [](changed_call& other) { only_first(other.mask, 2); });
}

attest_status band_of_the_first_query(asked const& a) {
  return answer_to(a, [&](changed_call& other) {
    DLTensor& mask = other.mask.t;
    only_first(other.mask, 2);
    other.mask.own_copy();
    for (std::int64_t at = 0; at < mask.shape[0] * mask.strides[0]; ++at)
      if (!in_band(0, at % a.m, a.call.diagonal, a.call.left, a.call.right))
        static_cast<std::uint8_t*>(mask.data)[at] = 0;
    other.call.left = other.call.right = -1;
  });
}

attest_status heads_in_turn(asked const& a) {
  attest_status status = ATTEST_OK;
  for (std::int64_t head = 0; head < a.hk && status == ATTEST_OK; ++head)
    status = answer_to(a, [&](changed_call& other) {
      for (changed_tensor* t : {&other.q, &other.mask, &other.bias, &other.out, &other.lse, &other.weights})
        t->keep(1, head, a.group(), a.hk);
      other.k.keep(1, head, 1), other.v.keep(1, head, 1);
    });
  return status;
}

attest_status no_byte_offset_of_keys(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.k.t.byte_offset = 0; });
}
attest_status no_byte_offset_of_mask(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.mask.t.byte_offset = 0; });
}
attest_status compact_o(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.out.describe_as_compact(); });
}
attest_status compact_lse(asked const& a) {
  return answer_to(a, [](changed_call& other) { other.lse.describe_as_compact(); });
}

}  // namespace attest::zoo
