// What usual tests of gradients see of the planted mistakes of the zoo, beside the bound: a table, on the same calls.
//
// usage: gradient_rules LIBATTEST_ZOO [SEED]
//
// The calls: 120 small problems of every feature and family of values, and 16 Gaussian ones of 65 queries and keys, as
// tests have them; all numbers are bf16, so that every rule may ask for them. The rules: the bound of contract f32 with
// the recorded O and LSE; torch.testing.assert_close with its defaults for f32, f16 and bf16, against the exact
// gradient; 0.03 and 0.0625 absolute; and FlashAttention's: for each gradient, an error at most twice the error of a
// naive autograd in f32, or in bf16. Calls on which a rule refuses an honest design do not count for it. 1 if the bound
// misses a mistake that another rule sees, or refutes an honest design, else 0. (No call has a block mask, more than 16
// heads, 1,024 rows or a NaN: mistakes about these no rule sees.)
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include <dlfcn.h>

#include "audit/contract/contract.hpp"
#include "audit/zoo/zoo.hpp"
#include "tests/reference/gradient/honest.hpp"

using namespace attest;
using namespace attest::tests;

namespace {

constexpr std::array rules{"bound", "close f32", "close f16", "close bf16", "0.03", "0.0625", "2x f32", "2x bf16"};
constexpr std::size_t the_bound = 0, naive_f32 = 6, naive_bf16 = 7;
using refusals = std::array<bool, rules.size()>;

/// The five gradients of one call.
using five = std::array<std::vector<double>, 5>;

/// A tensor of the C interface.
template <class T>
struct described {
  std::array<std::int64_t, 4> shape{}, strides{};
  DLTensor tensor{};
  described(std::vector<T> const& data, std::vector<std::int64_t> const& sizes, std::uint8_t code) {
    std::int64_t stride = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0; stride *= sizes[axis])
      shape[axis] = sizes[axis], strides[axis] = stride;
    tensor.data = const_cast<T*>(data.data());
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<std::int32_t>(sizes.size());
    tensor.dtype = {code, static_cast<std::uint8_t>(8 * sizeof(T)), 1};
    tensor.shape = shape.data(), tensor.strides = strides.data();
  }
  described(described const&) = delete;
  /// The axes 1 and 2 change places in memory.
  void transpose() { strides[1] = shape[3], strides[2] = shape[1] * shape[3]; }
};

/// One call with everything that the rules need: O and LSE, the exact gradients, and what naive kernels make of it.
struct asked_call {
  stored_case<float> stored;
  std::vector<float> o, lse;
  std::array<std::vector<reference::gradient_element>, 5> exact;
  std::array<std::array<double, 5>, 2> naive{};  ///< the largest error of each gradient: in f32, in bf16

  explicit asked_call(gradient_case const& c) : stored(c) {
    auto const answer = honest_run({}, c)();
    o.assign(answer.o.begin(), answer.o.end()), lse.assign(answer.lse.begin(), answer.lse.end());
    find_exact();
    honest_kernel in_bf16{.saved = true, .from_weights = true, .low = problem::format_of<problem::bf16>};
    in_bf16.low_weights = true;
    std::size_t at = 0;
    for (honest_kernel const& kernel : {honest_kernel{.saved = true, .from_weights = true}, in_bf16}) {
      auto const got = honest_run(kernel, c)();
      five const all{got.dq, got.dk, got.dv, got.dbias, got.dsink};
      for (std::size_t g = 0; g < 5; ++g) naive[at][g] = largest_error(g, all[g]);
      ++at;
    }
  }

  double error(std::size_t g, std::size_t at, double x) const {
    auto const& e = exact[g][at];
    return std::abs(x - (e.lower / 2 + e.upper / 2));
  }
  double largest_error(std::size_t g, std::vector<double> const& got) const {
    double most = 0;
    for (std::size_t at = 0; at < got.size(); ++at)
      if (exact[g][at].kind == reference::value_kind::finite) most = std::max(most, error(g, at, got[at]));
    return most;
  }

 private:
  void find_exact() {
    auto const& s = stored.from.size;
    auto const& p = *stored.instance;
    auto inputs = stored.inputs();
    inputs.o = stored_case<float>::rows(o, {s.b, s.hq, s.n, s.dv});
    inputs.lse = stored_case<float>::rows(lse, {s.b, s.hq, s.n, 1});
    auto const& claim = *audit::find_contract("f32");
    problem::any_instance const any = p;
    auto source =
        std::move(reference::gradient_source<float>::make(p, inputs, claim.model_for(any), claim.gradient_for(any),
                                                          reference::gradient_mode::recorded))
            .value();
    reference::gradient_element unused;
    unused.kind = reference::value_kind::unspecified;
    auto const count = [](auto... n) { return static_cast<std::size_t>((n * ...)); };
    exact[0].assign(count(s.b, s.hq, s.n, s.d), unused);
    exact[1].assign(count(s.b, s.hk, s.m, s.d), unused), exact[2].assign(count(s.b, s.hk, s.m, s.dv), unused);
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t g = 0; g < s.hk; ++g)
        source.group(b, g).each([&](reference::gradient_index const& at, reference::gradient_element const& element) {
          exact[static_cast<std::size_t>(at.which)][place_of(s, at)] = element;
        });
    exact[3] = source.dbias().element, exact[4] = source.dsink().element;
  }
};

/// What a kernel answers.
five answer_of(attest_status (*kernel)(attest_call const*), asked_call const& asked) {
  auto const& from = asked.stored.from;
  auto const& s = from.size;
  std::vector<std::int64_t> const of_q{s.b, s.hq, s.n, s.d}, of_k{s.b, s.hk, s.m, s.d}, of_v{s.b, s.hk, s.m, s.dv},
      of_o{s.b, s.hq, s.n, s.dv}, pairs{s.b, s.hq, s.n, s.m}, of_bias(from.bias_shape.begin(), from.bias_shape.end());
  std::array<std::vector<float>, 5> to;
  for (std::size_t g = 0; g < 5; ++g) to[g].assign(asked.exact[g].size(), 0.0F);
  auto const& x = asked.stored;
  std::vector<float> upstream(x.d_o.size());  // [b, n, hq, dv]: dO has strides of its own
  for (std::int64_t at = 0; at < s.b * s.hq * s.n * s.dv; ++at) {
    std::int64_t const e = at % s.dv, i = at / s.dv % s.n, h = at / s.dv / s.n % s.hq, b = at / s.dv / s.n / s.hq;
    upstream[static_cast<std::size_t>(((b * s.n + i) * s.hq + h) * s.dv + e)] = x.d_o[static_cast<std::size_t>(at)];
  }
  described<float> d_o(upstream, of_o, kDLFloat);
  d_o.transpose();
  described<float> const q(x.q, of_q, kDLFloat), k(x.k, of_k, kDLFloat), v(x.v, of_v, kDLFloat),
      bias(x.bias, of_bias, kDLFloat), sink(x.sink, {s.hq}, kDLFloat);
  described<float> o(asked.o, of_o, kDLFloat), lse(asked.lse, {s.b, s.hq, s.n}, kDLFloat), dq(to[0], of_q, kDLFloat),
      dk(to[1], of_k, kDLFloat), dv(to[2], of_v, kDLFloat), dbias(to[3], of_bias, kDLFloat),
      dsink(to[4], {s.hq}, kDLFloat);
  described<std::uint8_t> const mask(from.mask, pairs, kDLUInt), keep(from.keep, pairs, kDLUInt);
  described<std::int32_t> const q_lengths(from.q_lengths, {s.b}, kDLInt), k_lengths(from.k_lengths, {s.b}, kDLInt);
  attest_call call{};
  call.abi_version = ATTEST_KERNEL_ABI_3;
  call.q = &q.tensor, call.k = &k.tensor, call.v = &v.tensor, call.d_out = &d_o.tensor;
  call.out = &o.tensor, call.lse = &lse.tensor, call.d_q = &dq.tensor, call.d_k = &dk.tensor, call.d_v = &dv.tensor;
  if (!from.mask.empty()) call.mask = &mask.tensor;
  if (!from.keep.empty()) call.keep = &keep.tensor;
  if (!from.bias.empty()) call.bias = &bias.tensor, call.d_bias = &dbias.tensor;
  if (!from.sink.empty()) call.sink = &sink.tensor, call.d_sink = &dsink.tensor;
  if (!from.q_lengths.empty()) call.q_lengths = &q_lengths.tensor, call.k_lengths = &k_lengths.tensor;
  auto const& options = from.parameters;
  call.scale = options.scale ? *options.scale : NAN;
  call.softcap = options.softcap, call.dropout = options.dropout;
  call.diagonal = options.band.diagonal, call.left = options.band.left, call.right = options.band.right;
  five answer;
  if (kernel(&call) != ATTEST_OK) return answer;
  for (std::size_t g = 0; g < 5; ++g) answer[g].assign(to[g].begin(), to[g].end());
  return answer;
}

/// Which rules refuse an answer.
refusals judge(asked_call const& asked, five const& got) {
  refusals refused{};
  auto const far = [](double error, double exact, double relative, double absolute) {
    return !(error <= absolute + relative * std::abs(exact));
  };
  for (std::size_t g = 0; g < 5; ++g) {
    for (std::size_t at = 0; at < got[g].size(); ++at) {
      auto const& element = asked.exact[g][at];
      if (element.kind != reference::value_kind::finite) continue;
      double const error = asked.error(g, at, got[g][at]), x = element.lower / 2 + element.upper / 2;
      refused[the_bound] |= reference::verdict_on(element, got[g][at]) == reference::gradient_verdict::refuted;
      refused[1] |= far(error, x, 1.3e-6, 1e-5), refused[2] |= far(error, x, 1e-3, 1e-5);
      refused[3] |= far(error, x, 1.6e-2, 1e-5), refused[4] |= far(error, x, 0, 0.03);
      refused[5] |= far(error, x, 0, 0.0625);
    }
    if (got[g].empty()) continue;
    double const most = asked.largest_error(g, got[g]);
    refused[naive_f32] |= !(most <= 2 * asked.naive[0][g]), refused[naive_bf16] |= !(most <= 2 * asked.naive[1][g]);
  }
  return refused;
}

/// A Gaussian problem of 65 queries and keys with one feature.
gradient_case ordinary_case(draw& random, unsigned feature) {
  gradient_case c;
  do c = drawn_case<problem::bf16>(random, family::gaussian, feature, 65);
  while (c.size.n < 40 || c.size.m < 40);
  if (feature == 3) c.parameters.band.diagonal = -1;  // its first row sees no key
  return c;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  void* const library = dlopen(words[1], RTLD_NOW);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  std::size_t specimens = 0;
  auto const* const first =
      reinterpret_cast<decltype(&attest_zoo_specimens)>(dlsym(library, "attest_zoo_specimens"))(&specimens);
  draw random(count > 2 ? static_cast<std::uint64_t>(std::atoll(words[2])) : 1);
  std::vector<std::unique_ptr<asked_call>> calls;
  for (int n = 0; n < 120; ++n)
    calls.push_back(std::make_unique<asked_call>(drawn_case<problem::bf16>(
        random, static_cast<family>(random.whole(0, last_family)),
        static_cast<unsigned>(random.whole(0, 511)) & static_cast<unsigned>(random.whole(0, 511)))));
  std::size_t const small = calls.size();
  for (unsigned const feature : {0U, 0U, 1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U, 34U, 12U, 24U, 3U, 36U})
    calls.push_back(std::make_unique<asked_call>(ordinary_case(random, feature)));

  auto const kernel_of = [&](zoo::specimen const& each) {
    std::string const symbol = "zoo_" + std::string(each.name) + "_backward";
    return reinterpret_cast<attest_status (*)(attest_call const*)>(dlsym(library, symbol.c_str()));
  };
  std::vector<refusals> alarms(calls.size());
  std::array<std::array<std::size_t, 2>, rules.size()> unfit{};
  std::vector<zoo::specimen const*> mutants;
  for (std::size_t n = 0; n < specimens; ++n) {
    if (first[n].family != zoo::backward_family || kernel_of(first[n]) == nullptr) continue;
    if (!first[n].is_honest()) mutants.push_back(first + n);
    for (std::size_t at = 0; first[n].is_honest() && at < calls.size(); ++at) {
      refusals const refused = judge(*calls[at], answer_of(kernel_of(first[n]), *calls[at]));
      for (std::size_t rule = 0; rule < rules.size(); ++rule) {
        if (refused[rule] && !alarms[at][rule]) ++unfit[rule][at < small ? 0 : 1];
        alarms[at][rule] |= refused[rule];
      }
    }
  }
  std::printf("%-30s", "calls refused: small + ordinary");
  for (char const* rule : rules) std::printf(" %10s", rule);
  std::printf("\n");
  std::array<std::array<std::vector<std::string>, 2>, rules.size()> missed;
  bool bound_misses = false;
  for (auto const* const each : mutants) {
    std::string const name(each->name);
    std::array<std::array<int, 2>, rules.size()> times{};
    for (std::size_t at = 0; at < calls.size(); ++at) {
      refusals const refused = judge(*calls[at], answer_of(kernel_of(*each), *calls[at]));
      for (std::size_t rule = 0; rule < rules.size(); ++rule)
        times[rule][at < small ? 0 : 1] += refused[rule] && !alarms[at][rule];
    }
    std::printf("%-31s", name.c_str());
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      std::printf(" %5d + %2d", times[rule][0], times[rule][1]);
      for (std::size_t which : {0U, 1U})
        if (times[rule][which] == 0) missed[rule][which].push_back(name);
    }
    bool const seen = std::ranges::any_of(times, [](auto const& of) { return of[0] + of[1] > 0; });
    bound_misses = bound_misses || (seen && times[the_bound][0] + times[the_bound][1] == 0);
    std::printf("\n");
  }
  std::size_t const of[] = {small, calls.size() - small};
  std::printf("\n%zu mistakes, on %zu small and %zu ordinary calls\n", mutants.size(), of[0], of[1]);
  for (std::size_t rule = 0; rule < rules.size(); ++rule)
    for (std::size_t which : {1U, 0U}) {
      auto const& names = missed[rule][which];
      std::printf("%-10s %s calls: refuses honest designs on %zu of %zu; misses %zu:", rules[rule],
                  which == 0 ? "small   " : "ordinary", unfit[rule][which], of[which], names.size());
      for (auto const& name : names) std::printf(" %s", name.c_str());
      std::printf("\n");
    }
  return !bound_misses && unfit[the_bound][0] + unfit[the_bound][1] == 0 && mutants.size() >= 20 ? 0 : 1;
}
