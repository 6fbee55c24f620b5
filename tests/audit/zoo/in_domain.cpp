// A program that serves a kernel of the zoo inside a domain, as a kernel of a typical domain would behave:
//
//   attest audit --kernel "command:zoo_in_domain OUTSIDE DOMAIN FEATURES LIBRARY SYMBOL"
//
// OUTSIDE is what it does with a call that it does not take: "unsupported", "failed" (an assertion, as of a Python
// kernel) or "aborts". FEATURES are the optional inputs and outputs that it takes: some of mask, bias, softcap, lse,
// weights and version-2, with commas between them. If the library has SYMBOL_backward, its backward passes are served
// in the same domain; with the feature "gradients-alone" nothing else is.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <attest/serve.h>
#include <dlfcn.h>

#include "audit/cases/domain/call_domain.hpp"
#include "problem/call_parameters.hpp"

namespace {

using attest::audit::call_domain;
namespace problem = attest::problem;

struct served_kernel {
  attest_status (*kernel)(attest_call const*) = nullptr;
  attest_status (*backward)(attest_call const*) = nullptr;
  call_domain domain;
  std::string features, outside;

  bool takes(std::string_view feature) const {
    return ("," + features + ",").find("," + std::string(feature) + ",") != std::string::npos;
  }
  bool takes(attest_call const& asked) const;
};
served_kernel served;

bool served_kernel::takes(attest_call const& asked) const {
  attest_call const call = problem::copy_of(asked);
  bool const is_backward = call.d_out != nullptr;  // its LSE is an input
  bool const later = is_backward ? call.sink || call.q_lengths || call.k_lengths || call.q_offsets || call.k_offsets ||
                                       call.block_mask || call.keep
                                 : call.abi_version > ATTEST_KERNEL_ABI;
  if ((call.mask && !takes("mask")) || (call.bias && !takes("bias")) || (call.softcap != 0 && !takes("softcap")) ||
      (call.lse && !is_backward && !takes("lse")) || (call.weights && !takes("weights")) ||
      (later && !takes("version-2")))
    return false;
  auto const *q = call.q->shape, *k = call.k->shape;
  problem::sizes const sizes{q[0], q[1], k[1], q[2], k[2], q[3], call.v->shape[3]};
  attest::audit::problem_draft form;
  static_cast<problem::parameters&>(form) = problem::parameters_of(call);
  if (!call.q_offsets && !call.k_offsets && !call.block_table) return domain.takes(form, sizes);
  call_domain rows = domain;  // of packed and paged tensors the shapes say nothing of lengths
  rows.n = rows.m = rows.batch = {}, rows.queries = call_domain::lengths::any;
  return rows.takes(form, sizes);
}

attest_status answer_by(attest_status (*kernel)(attest_call const*), attest_call const* call) {
  if (served.takes(*call)) return kernel(call);
  if (served.outside == "aborts") std::abort();
  if (served.outside == "failed") return attest_serve_say("\001AssertionError (kernel.py:5)"), ATTEST_FAILED;
  return ATTEST_UNSUPPORTED;
}

attest_status answer(attest_call const* call) { return answer_by(served.kernel, call); }
attest_status answer_backward(attest_call const* call) { return answer_by(served.backward, call); }
attest_status no_attention(attest_call const*) {
  attest_serve_say("it has no attest_attention");
  return ATTEST_UNSUPPORTED;
}

/// Sets `served`. Returns why that cannot be done; empty if it could.
std::string fault_of(std::vector<std::string> const& words) {
  if (words.size() != 5) return "expected OUTSIDE DOMAIN FEATURES LIBRARY SYMBOL";
  auto const domain = call_domain::of_text(words[1]);
  if (!domain) return domain.why().message();
  served.outside = words[0], served.domain = domain.value(), served.features = words[2];
  void* const library = dlopen(words[3].c_str(), RTLD_NOW);
  if (!library) return dlerror();
  served.kernel = reinterpret_cast<decltype(served.kernel)>(dlsym(library, words[4].c_str()));
  served.backward = reinterpret_cast<decltype(served.backward)>(dlsym(library, (words[4] + "_backward").c_str()));
  return served.kernel ? "" : dlerror();
}

}  // namespace

/// Built with the address sanitizer, it looks for no leaks: for that it would have to be traced, which the cage
/// refuses.
extern "C" char const* __asan_default_options() { return "detect_leaks=0"; }

int main(int count, char** words) {
  if (auto const why = fault_of({words + 1, words + count}); !why.empty()) {
    attest_serve_refuse(why.c_str());
    return 2;
  }
  attest_server* const server = attest_serve_caged(words[count - 1]);
  if (!server) return 3;
  if (served.backward) attest_serve_backward(server, answer_backward, 0);
  auto* const attention = served.takes("gradients-alone") ? no_attention : answer;
  while (attest_serve_next(server, attention, -1) >= 0) continue;
  attest_serve_end(server);
  return 0;
}
