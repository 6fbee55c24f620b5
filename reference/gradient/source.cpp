// gradient_source: a group from its rows to its results.
#include "reference/gradient/source.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "reference/gradient/group-inl.hpp"
#include "reference/gradient/one_row-inl.hpp"
#include "reference/gradient/results-inl.hpp"
#include "reference/gradient/shapes.hpp"
#include "reference/machine/block_task.hpp"

namespace attest::reference {
namespace gradient_detail {

/// σ, the softcap, κ and Δ_d of the problem.
template <class T>
void set_problem(problem::instance<T> const& p, gradient_terms& terms) {
  ball<128> const scale = exact_scale::of(p).template enclosure<128>();
  enclosure const near_scale = between(lower(scale), upper(scale));
  terms.scale = near_scale.mid, terms.scale_off = near_scale.off, terms.scale_upper = near_scale.size() * (1 + 0x1p-52);
  terms.scale_or_one = larger(1, terms.scale_upper);
  terms.softcap = p.softcap();
  terms.centred = terms.centred && !(terms.softcap > 0);
  if (!(dropout_of(p) > 0)) return;
  ball<128> const kept = ball<128>(1) / kept_part<128>(p);
  enclosure const near_kept = between(lower(kept), upper(kept));
  terms.kept = near_kept.mid, terms.kept_off = near_kept.off, terms.kept_upper = near_kept.size() * (1 + 0x1p-52);
  terms.drop = compounded(gamma_below_quarter(terms.forward.k_drop, terms.forward.format.u),
                          compounded(terms.forward.u_drop, gamma(terms.kept_upper - 1, terms.forward.u_rate)));
  terms.drop_growth = terms.kept_upper * (1 + terms.drop) * (1 + 0x1p-50);
  terms.omega_drop = terms.forward.omega_drop;
}

}  // namespace gradient_detail

using gradient_detail::source_state;

template <class T>
gradient_source<T>::gradient_source(std::unique_ptr<source_state<T>> state) noexcept : state_(std::move(state)) {}
template <class T>
gradient_source<T>::gradient_source(gradient_source&&) noexcept = default;
template <class T>
gradient_source<T>& gradient_source<T>::operator=(gradient_source&&) noexcept = default;
template <class T>
gradient_source<T>::~gradient_source() = default;

template <class T>
problem::result<gradient_source<T>> gradient_source<T>::make(problem::instance<T> const& p,
                                                             gradient_inputs<T> const& inputs,
                                                             problem::kernel_model const& forward,
                                                             problem::gradient_model const& backward,
                                                             gradient_mode mode) {
  using problem::error, problem::error_code;
  problem::sizes const& s = p.size();
  std::array<std::int64_t, 4> const rows{s.b, s.hq, s.n, s.dv}, one{s.b, s.hq, s.n, 1};
  if (!inputs.d_o.present) return error{error_code::missing, "do", "is missing: a gradient begins at it"};
  if (inputs.d_o.shape != rows) return error{error_code::bad_shape, "do", "has another shape than o"};
  bool const given = mode != gradient_mode::own;
  if (given && !inputs.lse.present) return error{error_code::missing, "lse", "is missing: this mode rests on it"};
  if (given && inputs.lse.shape != one) return error{error_code::bad_shape, "lse", "has another shape than the rows"};
  bool const needs_o = mode == gradient_mode::local || (given && backward.delta != problem::backward_delta::weights);
  if (needs_o && !inputs.o.present) return error{error_code::missing, "o", "is missing: this mode rests on it"};
  if (inputs.o.present && inputs.o.shape != rows) return error{error_code::bad_shape, "o", "has another shape"};
  if (p.base() == problem::log_base::two)
    return error{error_code::unsupported, "base", "is 2: gradients are those of scores with the base e"};
  auto state = std::make_unique<source_state<T>>();
  state->p = &p, state->inputs = inputs;
  state->terms = gradient_terms(forward, backward, mode, s.d, s.dv);
  gradient_detail::set_problem(p, state->terms);
  auto rows_of_machine = machine::row_source<T>::make(
      p, forward, {.weights = state->terms.from_saved || !machine::has_exact_products<T>::value});
  if (rows_of_machine) state->rows.emplace(std::move(rows_of_machine).value());
  auto const reserve = [](auto const& shape, auto& sums) {
    sums.resize(static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  };
  if (p.has_bias()) state->dbias_shape = shape_of_dbias(p), reserve(state->dbias_shape, state->dbias);
  if (p.has_sink()) state->dsink_shape = shape_of_dsink(p), reserve(state->dsink_shape, state->dsink);
  return gradient_source(std::move(state));
}

namespace gradient_detail {

template <class T>
group_gradients const& run_group(source_state<T>& state, std::int64_t b, std::int64_t g, wanted_rows const* wanted) {
  state.begin_group(b, g, wanted);
  auto const runs = state.needed_runs();
  state.runs = static_cast<double>(runs.size());
  std::int64_t const first_head = g * state.found.heads;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    state.block(b, first_head + runs[at].h, runs[at].i0, static_cast<std::size_t>(runs[at].count));
    if (at + 1 == runs.size() || runs[at + 1].h != runs[at].h) state.end_head();
  }
  state.write_keys();
  return state.found;
}

}  // namespace gradient_detail

template <class T>
group_gradients const& gradient_source<T>::group(std::int64_t b, std::int64_t g) {
  return gradient_detail::run_group<T>(*state_, b, g, nullptr);
}

template <class T>
group_gradients const& gradient_source<T>::some_of_group(std::int64_t b, std::int64_t g, wanted_rows const& wanted) {
  gradient_detail::run_group<T>(*state_, b, g, &wanted);
  group_gradients& found = state_->found;
  found.heads = 1, found.queries = std::ssize(wanted.queries), found.keys = std::ssize(wanted.keys);
  return found;
}

template <class T>
void gradient_source<T>::observe(std::function<void(gradient_row const&)> each) {
  state_->observe = std::move(each);
}

template <class T>
void gradient_source<T>::add(gradient_source const& other) {
  for (std::size_t at = 0; at < state_->dbias.size(); ++at) state_->dbias[at].add(other.state_->dbias[at]);
  for (std::size_t at = 0; at < state_->dsink.size(); ++at) state_->dsink[at].add(other.state_->dsink[at]);
}
template <class T>
shared_gradient gradient_source<T>::dbias() const {
  return gradient_detail::finished(state_->terms, state_->dbias_shape, state_->dbias);
}
template <class T>
shared_gradient gradient_source<T>::dsink() const {
  return gradient_detail::finished(state_->terms, state_->dsink_shape, state_->dsink);
}

template class gradient_source<float>;
template class gradient_source<double>;
template class gradient_source<problem::bf16>;
template class gradient_source<problem::f16>;

}  // namespace attest::reference
