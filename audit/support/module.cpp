#include "audit/support/module.hpp"

#include <string>

#include <dlfcn.h>

#include "audit/support/printable.hpp"

namespace attest::audit {

problem::result<void*> symbol_of(std::filesystem::path const& path, char const* symbol) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, symbol) : nullptr;
  if (found) return found;
  char const* const why = dlerror();
  return problem::error{problem::error_code::unreadable, printable(path.native(), 200),
                        std::string("cannot be loaded: ") + (why ? why : "it has no such symbol")};
}

}  // namespace attest::audit
