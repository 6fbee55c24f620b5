// A kernel called in this process as the audit's runner calls it: every tensor ends at inaccessible memory, outputs
// start as NaN, and what must not change is compared. ATTEST_PLANT=NAME puts a kernel of the zoo in place of the
// built-in one.
#pragma once

#include <array>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <attest/kernel.h>

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/zoo/claim.hpp"
#include "problem/call_parameters.hpp"
#include "problem/dlpack.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_bytes.hpp"

namespace attest::tests {

/// One tensor of a call.
class guarded_tensor {
 public:
  guarded_tensor(audit::owned_tensor const& from) : from_(from), bytes_(from.bytes.size()) {
    if (!from.bytes.empty()) std::memcpy(bytes_.data(), from.bytes.data(), from.bytes.size());
    shape_ = from.layout.shape, stride_ = from.layout.stride;
    described_.data = bytes_.data();
    described_.device.device_type = kDLCPU;
    described_.ndim = from.layout.rank;
    described_.dtype = problem::dlpack_type_of(from.type);
    described_.shape = shape_.data();
    described_.strides = stride_.data();
  }
  DLTensor* get() noexcept { return &described_; }
  bool unchanged() noexcept {
    return bytes_.canary_lives() &&
           (from_.bytes.empty() || std::memcmp(bytes_.data(), from_.bytes.data(), from_.bytes.size()) == 0);
  }
  /// Copies the tensor from the kernel's memory, whose canaries must live.
  void take(audit::owned_tensor& to) {
    REQUIRE(bytes_.canary_lives());
    to = from_;
    if (!to.bytes.empty()) std::memcpy(to.bytes.data(), bytes_.data(), to.bytes.size());
  }

 private:
  audit::owned_tensor from_;
  guarded_bytes bytes_;
  std::array<std::int64_t, 4> shape_{}, stride_{};
  DLTensor described_{};
};

/// The kernel of the zoo that stands in for the built-in one, or nullptr.
inline zoo::specimen const* planted() {
  char const* const name = std::getenv("ATTEST_PLANT");
  if (!name || !*name) return nullptr;
  zoo::specimen const* const found = zoo::find_specimen(name);
  if (!found) FAIL("the zoo has no kernel called " << name);
  return found;
}

/// The claim of planted().
inline audit::contract const& claim_of_plant(zoo::specimen const& plant) {
  static audit::contract const claim = audit::claim_of(plant).value();
  return claim;
}

/// Is the kernel asked problems of this type? A planted kernel that claims the presets of float and double (f32,
/// f32-any, f64) has both; any other has only its claim's type.
inline bool takes(problem::element_type type) {
  zoo::specimen const* const plant = planted();
  if (!plant) return true;
  for (char const* const general : {"f32", "f32-any", "f64"})
    if (plant->contract == general) return problem::size_of(type) > 2;
  return type == claim_of_plant(*plant).type;
}

/// The kernel's claim for this element type: the built-in one fast::model, with outputs rounded to theirs.
inline audit::contract const& claim_for(problem::element_type type) {
  using problem::element_type;
  zoo::specimen const* const plant = planted();
  bool const f64 = type == element_type::f64;
  if (!plant && type == element_type::bf16) return *audit::find_contract("bf16-ieee");
  if (!plant && type == element_type::f16) return *audit::find_contract("f16-ieee");
  if (!plant) return *audit::find_contract(f64 ? "f64-blocked" : "f32-blocked");
  audit::contract const& claimed = claim_of_plant(*plant);
  return claimed.type == type ? claimed : *audit::find_contract(f64 ? "f64" : "f32");
}

/// O, LSE and, if the kernel returns them, weights. Returns nothing if the kernel answers UNSUPPORTED. The promises of
/// attest/kernel.h are required.
inline audit::owned_outputs guarded_answer_of(attest_status (*kernel)(attest_call const*),
                                              audit::problem_draft const& draft, std::int32_t threads = 1) {
  auto const instance = problem::make_instance(draft.arguments()).value();
  problem::sizes const s = std::visit([](auto const& p) { return p.size(); }, instance);
  bool const packed = draft.q_offsets.has_value();
  std::int64_t const entries = packed ? 1 : s.b, rows = packed ? draft.q.layout.shape[2] : s.n;
  auto const type = draft.q.type;
  auto const lse_type = type == problem::element_type::f64 ? type : problem::element_type::f32;
  auto const output = [&](std::initializer_list<std::int64_t> sizes, problem::element_type of) {
    auto tensor = audit::owned_tensor::compact(of, sizes);
    std::ranges::fill(tensor.bytes, std::byte{0xff});  // NaN
    return tensor;
  };
  guarded_tensor given_q(draft.q), given_k(draft.k), given_v(draft.v);
  guarded_tensor o(output({entries, s.hq, rows, s.dv}, type)), lse(output({entries, s.hq, rows}, lse_type)),
      weights(output({s.b, s.hq, s.n, s.m}, type));
  attest_call call{};
  call.abi_version = draft.is_of_version_1() ? ATTEST_KERNEL_ABI : ATTEST_KERNEL_ABI_2;
  call.threads = threads;
  call.q = given_q.get(), call.k = given_k.get(), call.v = given_v.get();
  std::vector<std::unique_ptr<guarded_tensor>> optional;
  problem::visit_optional_tensors(
      [&](auto const&, std::optional<audit::owned_tensor> const& from, DLTensor const*& to) {
        if (from) to = optional.emplace_back(std::make_unique<guarded_tensor>(*from))->get();
      },
      draft, call);
  problem::set_parameters(call, draft);
  call.out = o.get(), call.lse = lse.get();
  if (!packed && !draft.k_offsets) call.weights = weights.get();

  std::fenv_t before, after;
  std::memset(&before, 0, sizeof before), std::memset(&after, 0, sizeof after);
  // std::feclearexcept leaves the flag of subnormal operands, which any kernel may set: set it before, too.
  float volatile subnormal = std::numeric_limits<float>::denorm_min();
  subnormal = subnormal + subnormal;
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fegetenv(&before);
  attest_status status = kernel(&call);
  if (status == ATTEST_UNSUPPORTED) call.weights = nullptr, status = kernel(&call);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fegetenv(&after);
  std::fesetenv(&before);
  bool const environment_restored = std::memcmp(&before, &after, sizeof before) == 0;
  REQUIRE(environment_restored);
  for (guarded_tensor* input : {&given_q, &given_k, &given_v}) REQUIRE(input->unchanged());
  for (auto const& input : optional) REQUIRE(input->unchanged());
  REQUIRE((status == ATTEST_OK || status == ATTEST_UNSUPPORTED));
  if (status == ATTEST_UNSUPPORTED) return {};
  audit::owned_outputs answer;
  o.take(answer.o.emplace()), lse.take(answer.lse.emplace());
  if (call.weights) weights.take(answer.weights.emplace());
  return answer;
}

/// The same of the built-in kernel, or of the one in its place.
inline audit::owned_outputs guarded_answer(audit::problem_draft const& draft, std::int32_t threads = 1) {
  zoo::specimen const* const plant = planted();
  return guarded_answer_of(plant ? plant->kernel : attest_attention, draft, threads);
}

}  // namespace attest::tests
