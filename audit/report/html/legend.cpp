#include "audit/report/html/legend.hpp"

#include "audit/report/svg/curve.hpp"

namespace attest::audit {

void write_legend(std::span<report const> all, std::string const& extra, markup& to) {
  to.open("ul", {{"class", "legend-list" + extra}});
  for (std::size_t n = 0; n < all.size(); ++n)
    to.open("li").trusted(legend_svg(static_cast<int>(n))).text(" " + all[n].kernel).close();
  to.close();
}

}  // namespace attest::audit
