#include "audit/zoo/loaded.hpp"

#include "audit/support/locate.hpp"
#include "audit/support/module.hpp"

namespace attest::zoo {

problem::result<loaded_zoo> load_zoo() {
  auto const library = audit::locate_zoo();
  if (!library) return library.why();
  auto const list = audit::symbol_of(library.value(), "attest_zoo_specimens");
  if (!list) return list.why();
  std::size_t count = 0;
  auto const* const first = reinterpret_cast<decltype(&attest_zoo_specimens)>(list.value())(&count);
  return loaded_zoo{library.value(), {first, count}};
}

}  // namespace attest::zoo
