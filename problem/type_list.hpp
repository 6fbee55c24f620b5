// Lists of types. A set of types is written down once; variants, tuples and loops over it are derived from the list.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <variant>

namespace attest::problem {

template <class... T>
struct type_list {
  static constexpr std::size_t size = sizeof...(T);
};

namespace detail {

template <class List>
struct list_operations;
template <class... T>
struct list_operations<type_list<T...>> {
  template <class X>
  static constexpr std::size_t index_of() noexcept {
    std::size_t at = 0;
    static_cast<void>(((std::is_same_v<X, T> || (++at, false)) || ...));
    return at;
  }
  template <std::size_t I>
  using at = std::tuple_element_t<I, std::tuple<T...>>;
  template <template <class> class F>
  using variant_of = std::variant<F<T>...>;
  template <template <class> class F>
  using tuple_of = std::tuple<F<T>...>;
};

template <template <class> class Keep, class Found, class... Left>
struct filtered {
  using type = Found;
};
template <template <class> class Keep, class... Found, class T, class... Left>
struct filtered<Keep, type_list<Found...>, T, Left...> {
  using type = typename filtered<Keep, std::conditional_t<Keep<T>::value, type_list<Found..., T>, type_list<Found...>>,
                                 Left...>::type;
};
template <template <class> class Keep, class... T>
typename filtered<Keep, type_list<>, T...>::type filtered_list(type_list<T...>);

}  // namespace detail

/// The index of T in the list; the size of the list if T is not in it.
template <class T, class List>
inline constexpr std::size_t index_in = detail::list_operations<List>::template index_of<T>();

/// The type at index I.
template <std::size_t I, class List>
using type_at = typename detail::list_operations<List>::template at<I>;

/// std::variant<F<T>...> and std::tuple<F<T>...> over the types T of the list.
template <template <class> class F, class List>
using variant_of = typename detail::list_operations<List>::template variant_of<F>;
template <template <class> class F, class List>
using tuple_of = typename detail::list_operations<List>::template tuple_of<F>;

/// The types T of the list with Keep<T>::value, in the order of the list.
template <template <class> class Keep, class List>
using filtered_list = decltype(detail::filtered_list<Keep>(List{}));

}  // namespace attest::problem
