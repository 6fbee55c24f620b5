// A merge in words, for the input that broke a rule.
#include <ostream>

#include "fuzz/support/merge_call.hpp"

namespace attest::fuzz {

std::ostream& operator<<(std::ostream& out, merge_under_test const& tested) {
  attest_merge_call const& call = tested.call;
  out << "version " << call.abi_version << ", threads " << call.threads << ", parts " << call.parts << ", reserved "
      << call.reserved << (tested.there_ ? "" : ", NULL") << (tested.has_o_ ? "" : ", no o")
      << (tested.has_lse_ ? "" : ", no lse") << '\n';
  for (std::size_t at = 0; at < tested.slots_.size(); ++at) {
    auto const& s = tested.slots_[at];
    if (!s.present) continue;
    out << (at == merge_under_test::out       ? "out"
            : at == merge_under_test::out_lse ? "out_lse"
            : at % 2 == 1                     ? "lse"
                                              : "o")
        << ": ndim " << s.tensor.ndim << ", type " << int(s.tensor.dtype.code) << '/' << int(s.tensor.dtype.bits) << '/'
        << s.tensor.dtype.lanes << ", device " << s.tensor.device.device_type << ", shape";
    for (std::size_t axis = 0; axis < 4; ++axis) out << ' ' << s.shape[axis] << '(' << s.strides[axis] << ')';
    out << ", offset " << s.tensor.byte_offset << (s.has_data ? "" : ", no data") << (s.has_shape ? "" : ", no shape")
        << (s.has_strides ? "" : ", no strides");
    if (s.owner != at) out << ", in the memory of slot " << s.owner;
    out << '\n';
  }
  return out;
}

}  // namespace attest::fuzz
