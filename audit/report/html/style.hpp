// The look of the HTML report: one style sheet, and the patterns that its pictures use.
#pragma once

namespace attest::audit {

/// The SVG patterns that the pictures of a page fill cells with: hatching for masked cells, dots for unknown values.
inline constexpr char const* fill_patterns =
    R"svg(<svg xmlns="http://www.w3.org/2000/svg" class="patterns" width="0" height="0" aria-hidden="true"><defs>)svg"
    R"svg(<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">)svg"
    R"svg(<path class="hatch-line" d="M0 0v5"/></pattern>)svg"
    R"svg(<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">)svg"
    R"svg(<path class="dot" d="M2 2h1v1h-1z"/></pattern>)svg"
    R"svg(</defs></svg>)svg";

/// The text of style.css.
extern char const* const html_style;

}  // namespace attest::audit
