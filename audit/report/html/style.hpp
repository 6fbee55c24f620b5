// The look of the HTML report: one style sheet, light and dark, and the two patterns that its pictures use.
// Contrast of text is 4.5:1 or more on its ground; line colours are those of Okabe and Ito (2008), darkened or
// lightened to 3:1.
#pragma once

namespace attest::audit {

/// Hatching for masked cells, dots for what nobody knows.
inline constexpr char const* hatch_pattern =
    R"svg(<svg xmlns="http://www.w3.org/2000/svg" class="patterns" width="0" height="0" aria-hidden="true"><defs>)svg"
    R"svg(<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch-line" d="M0 0v5"/></pattern>)svg"
    R"svg(<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse"><path class="dot" d="M2 2h1v1h-1z"/></pattern></defs></svg>)svg";

inline constexpr char const* html_style = R"svg(
:root { color-scheme: light dark;
  --paper: #fdfdfb; --raised: #f4f4f0; --ink: #1c1d1f; --quiet: #565b63; --rule: #d8d8d2;
  --good: #0a5c73; --bad: #a63014; --open: #7a5200;
  --l0: #f1f4f8; --l1: #dce7f2; --l2: #c1d5e9; --l3: #9ec0dd; --l4: #76a8d0; --l5: #3877ae; --l6: #2369a6; --l7: #14508c; --l8: #08306b;
  --over: #f3c3ae; --cross: #8f1d00; --hatch: #8b9098; --on-dark: #ffffff;
  --s0: #0067a3; --s1: #c2520a; --s2: #00805c; --s3: #a8447f; --s4: #8a6a00; --s5: #555a62; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #15171a; --raised: #1e2125; --ink: #e8e8e4; --quiet: #a9aeb6; --rule: #363b42;
  --good: #62c4da; --bad: #ff9a7a; --open: #e5b84f;
  --l0: #20262d; --l1: #203447; --l2: #23435f; --l3: #275479; --l4: #2d6794; --l5: #6ea9d6; --l6: #8dbfe3; --l7: #b0d5ef; --l8: #d8ebfb;
  --over: #6b2b18; --cross: #ffb59c; --hatch: #737983; --on-dark: #0c1116;
  --s0: #58b4e8; --s1: #f0884a; --s2: #3fc79f; --s3: #dc8fbb; --s4: #e0bb45; --s5: #b4b9c0; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 400 1rem/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
.patterns { position: absolute; }
header { display: flex; justify-content: space-between; align-items: baseline; border-bottom: 1px solid var(--rule); padding-bottom: .5rem; }
header h1 { font-size: 1rem; font-weight: 600; margin: 0; order: -1; } .brand { margin: 0; color: var(--quiet); font-size: .875rem; }
h2 { font-size: 1.25rem; font-weight: 600; margin: 2.75rem 0 .5rem; line-height: 1.25; }
h3 { font-size: 1rem; font-weight: 600; margin: 0 0 .5rem; line-height: 1.4; } h4 { font-size: .875rem; font-weight: 600; margin: 0 0 .35rem; }
.note, figcaption, .label, .notes { color: var(--quiet); font-size: .875rem; } .note { margin: .25rem 0 .75rem; }
.label { margin: 1rem 0 .25rem; }
.verdicts.several { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 0 2.5rem; }
.verdict { --tone: var(--open); border-left: 4px solid var(--tone); padding-left: 1.1rem; margin: 1.75rem 0 0; min-width: 0; }
.verdict.certified { --tone: var(--good); } .verdict.refuted { --tone: var(--bad); }
.verdict h2 { color: var(--tone); font-size: 2rem; margin: 0 0 .4rem; display: flex; align-items: center; gap: .5rem; letter-spacing: -.01em; }
.several .verdict h2 { font-size: 1.5rem; }
.icon { width: 1em; height: 1em; fill: none; stroke: currentColor; stroke-width: 3.5; stroke-linecap: round; stroke-linejoin: round; }
.verdict .sentence { font-size: 1.0625rem; max-width: 44rem; margin: 0 0 1.1rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .75rem 1.5rem; margin: 0; }
.facts div { min-width: 0; } .facts div:first-child { grid-column: 1 / -1; }
dt { color: var(--quiet); font-size: .8125rem; } dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } .scroll:focus-visible { outline: 2px solid var(--good); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: baseline; padding: .3rem 1.1rem .3rem 0; font-weight: 400; } th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-size: .8125rem; border-bottom: 1px solid var(--rule); vertical-align: bottom; } tbody tr { border-bottom: 1px solid var(--rule); }
.checks { width: 100%; } .number { text-align: right; white-space: nowrap; }
.checks details p { margin: .15rem 0; color: var(--quiet); font-size: .8125rem; max-width: 22rem; } summary { cursor: pointer; }
.checks .error { min-width: 6rem; } .bar { width: 3rem; height: .35rem; margin-right: .6rem; } .bar-all { fill: var(--rule); } .bar-part { fill: var(--s0); } .bar-over { fill: var(--bad); }
.together th { min-width: 8rem; } .together thead th { overflow-wrap: anywhere; min-width: 9.5rem; } .together td span { display: block; } .together td span span { display: inline; }
.together td .legend, .narrow { display: none; }
.state.FAILED { color: var(--bad); font-weight: 600; } .state.undecided { color: var(--open); font-weight: 600; } .state.unsupported { color: var(--quiet); }
.finding { border-top: 1px solid var(--rule); padding: 1.25rem 0 1.5rem; } .finding .sentence { margin: 0 0 .35rem; max-width: 48rem; overflow-wrap: anywhere; }
.finding h3 { overflow-wrap: anywhere; } .waived { color: var(--quiet); }
.class-token { display: inline-block; border: 1px solid currentColor; border-radius: .25rem; padding: 0 .4rem; margin-right: .35rem; font-size: .8125rem; color: var(--bad); }
.waived .class-token { color: var(--quiet); }
.numbers td, .inputs td, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .8125rem; }
.numbers td { overflow-wrap: anywhere; } .numbers th[scope=row], .inputs th { color: var(--quiet); padding-right: 1rem; white-space: nowrap; }
pre { background: var(--raised); border-radius: .25rem; padding: .6rem .75rem; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.pictures { display: flex; flex-wrap: wrap; gap: 1.25rem 2rem; margin: 1.25rem 0; } .pictures figure { flex: 0 1 auto; max-width: 100%; min-width: 0; } figure { margin: 0; }
figcaption { max-width: 22rem; margin-top: .25rem; font-size: .8125rem; } .finding details { margin-top: .75rem; } .finding details p { font-size: .9rem; overflow-wrap: anywhere; }
svg { max-width: 100%; } .heatmap { height: auto; display: block; } .curve { width: 100%; height: auto; display: block; }
.curves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1.75rem 2.5rem; } .curves figure { min-width: 0; max-width: 34rem; }
.curves details { font-size: .875rem; color: var(--quiet); } .legend { vertical-align: middle; } .legend-list { list-style: none; padding: 0; margin: 0 0 1rem; font-size: .9rem; overflow-wrap: anywhere; }
.notes { padding-left: 1.1rem; overflow-wrap: anywhere; max-width: 52rem; } .notes li { margin: .2rem 0; }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: .75rem; color: var(--quiet); font-size: .8125rem; max-width: 52rem; }
svg text { fill: var(--ink); font-size: 11px; font-variant-numeric: tabular-nums; } svg .tick { fill: var(--quiet); } svg .axis-label { font-size: 12px; }
.l0 { fill: var(--l0); } .l1 { fill: var(--l1); } .l2 { fill: var(--l2); } .l3 { fill: var(--l3); } .l4 { fill: var(--l4); }
.l5 { fill: var(--l5); } .l6 { fill: var(--l6); } .l7 { fill: var(--l7); } .l8 { fill: var(--l8); } .over { fill: var(--over); } .unknown { fill: url(#dots); }
.dot { fill: var(--quiet); } .hatch-line { stroke: var(--hatch); stroke-width: 1.2; } .masked { fill: url(#hatch); }
.frame { fill: none; stroke: var(--rule); } .halo { fill: none; stroke: var(--paper); stroke-width: 3.6; } .cross { fill: none; stroke: var(--cross); stroke-width: 1.6; } svg .light { fill: var(--on-dark); } svg .wrong { fill: var(--cross); font-weight: 700; }
.outside { fill: var(--over); opacity: .35; } .gridline { stroke: var(--rule); stroke-width: .7; } .axis { fill: none; stroke: var(--quiet); }
.bound { stroke: var(--bad); stroke-width: 1.6; } svg .bound-label { fill: var(--bad); }
.line { fill: none; stroke-width: 1.8; } .marker { stroke: none; }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); } .line.s3 { stroke: var(--s3); } .line.s4 { stroke: var(--s4); } .line.s5 { stroke: var(--s5); }
.marker.s0 { fill: var(--s0); } .marker.s1 { fill: var(--s1); } .marker.s2 { fill: var(--s2); } .marker.s3 { fill: var(--s3); } .marker.s4 { fill: var(--s4); } .marker.s5 { fill: var(--s5); }
@media (max-width: 40rem) { main { padding-top: 1rem; } .verdict h2 { font-size: 1.75rem; }
  .alone thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .alone tr { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 .75rem; padding: .45rem 0; } .alone th, .alone td { padding: 0; }
  .alone .state { grid-column: 2; grid-row: 1; text-align: right; } .alone td.number { font-size: .8125rem; color: var(--quiet); text-align: left; } .alone td.number:nth-of-type(even) { text-align: right; }
  .alone td.number::after { content: " " attr(data-unit); } .alone td.error { min-width: 0; } .alone .bar { display: none; }
  .together, .together tbody { display: block; width: 100%; } .together thead { display: none; }
  .together tr { display: block; padding: .45rem 0; } .together th { display: block; padding: 0; } .together td .legend { display: inline; flex: none; }
  .narrow { display: block; } .together td { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .6rem; padding: 0; font-size: .8125rem; } .together .bar { display: none; }
  .together .error { min-width: 4.5rem; }
  .numbers td { font-size: .75rem; } .numbers th, .numbers td { padding-right: .6rem; } }
@media print { body { background: #fff; } .finding { break-inside: avoid; } }
)svg";

}  // namespace attest::audit
