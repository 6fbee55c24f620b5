#include "reference/gradient/rounded.hpp"

#include <tuple>
#include <variant>

#include "reference/gradient/algebraic.hpp"
#include "reference/real/nearest.hpp"

namespace attest::reference::compiled {
namespace {

/// Rounds the elements of `open` by their enclosures of W bits; what is decided leaves the list.
template <unsigned W, class Target, class T, class SignAgainst>
void round_at(problem::instance<T> const& p, gradient_inputs<T> const& inputs, gradient_mode mode,
              std::span<gradient_index const> wanted, std::vector<std::size_t>& open,
              std::vector<rounded_gradient<Target>>& result, SignAgainst const& sign_against) {
  std::vector<gradient_index> chosen;
  for (std::size_t const at : open) chosen.push_back(wanted[at]);
  auto const enclosed = compiled::enclose_gradients<W>(p, inputs, mode, std::span<gradient_index const>(chosen));
  std::vector<std::size_t> left;
  for (std::size_t n = 0; n < open.size(); ++n) {
    auto& to = result[open[n]];
    to.kind = enclosed[n].kind;
    if (to.kind != value_kind::finite) continue;
    to.value = nearest<Target>(enclosed[n].value, [&](element const& t) { return sign_against(chosen[n], t); });
    if (!to.value) left.push_back(open[n]);
  }
  open = std::move(left);
}

}  // namespace

template <class Target, class T>
std::vector<rounded_gradient<Target>> round_gradients(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                                      gradient_mode mode, std::span<gradient_index const> wanted) {
  std::vector<rounded_gradient<Target>> result(wanted.size());
  std::vector<std::size_t> open(wanted.size());
  for (std::size_t at = 0; at < open.size(); ++at) open[at] = at;
  auto const nothing = [](gradient_index const&, element const&) { return std::optional<int>(); };
  round_at<128>(p, inputs, mode, wanted, open, result, nothing);
  if (mode != gradient_mode::local && !open.empty()) {
    std::optional<algebraic_gradient<T>> exact;
    gradient_index of{};
    bool known = false;
    round_at<128>(p, inputs, mode, wanted, open, result, [&](gradient_index const& at, element const& t) {
      if (!known || !(of == at)) exact = algebraic(p, inputs, at), of = at, known = true;
      return exact ? std::optional(exact->sign_against(t)) : std::nullopt;
    });
  }
  if (!open.empty()) round_at<256>(p, inputs, mode, wanted, open, result, nothing);
  if (!open.empty()) round_at<1152>(p, inputs, mode, wanted, open, result, nothing);
  return result;
}

namespace {

template <class T, class... Target>
constexpr auto of_targets(std::variant<problem::instance<Target>...> const*) {
  return std::tuple{&round_gradients<Target, T>...};
}
template <class... T>
constexpr auto of_types(std::variant<problem::instance<T>...> const* all) {
  return std::tuple_cat(of_targets<T>(all)...);
}
[[gnu::used]] constexpr auto all = of_types(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::reference::compiled
