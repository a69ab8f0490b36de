// The look of the page, in light and in dark.
#pragma once

namespace krylith::tool {

/// A style sheet without < and &, which XML would take for markup. The pictures are drawn for white
/// paper: in the dark they are turned over, light for dark, and keep their hues.
inline constexpr const char* report_style = R"(:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2126; --faint: #667079; --line: #d9dee3; --card: #f5f7f9;
  --good: #1a7f4b; --bad: #b3261e;
  --c0: #1f6fb4; --c1: #e69f00; --c2: #009e73; --c3: #cc79a7; --c4: #d55e00; --c5: #56b4e9 }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181c; --ink: #e4e8ec; --faint: #98a2ab; --line: #353c43; --card: #1d2227;
  --good: #55c98c; --bad: #ff8a80 }
  .picture svg { filter: invert(1) hue-rotate(180deg) } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem } h2 { font-size: 1.25rem; margin-top: 2.5rem; overflow-wrap: anywhere }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem }
table { border-collapse: collapse } th { text-align: left; font-weight: 500; color: var(--faint);
  padding: .15rem 1.2rem .15rem 0; vertical-align: top; white-space: nowrap }
td { padding: .15rem 1rem .15rem 0; overflow-wrap: anywhere }
thead th { border-bottom: 1px solid var(--line) }
.bars { width: 100% } .bar { width: 55% } .pieces { display: flex; margin-top: .3rem }
.piece { height: .9rem; flex: none } .number { font-variant-numeric: tabular-nums }
.c0 { background: var(--c0) } .c1 { background: var(--c1) } .c2 { background: var(--c2) }
.c3 { background: var(--c3) } .c4 { background: var(--c4) } .c5 { background: var(--c5) }
.good { color: var(--good) } .bad { color: var(--bad) }
.note { background: var(--card); border-left: 3px solid var(--line); padding: .5rem .8rem }
pre { background: var(--card); padding: .6rem .8rem; overflow-x: auto }
.picture svg { max-width: 100%; height: auto } .picture svg .paper { fill: none }
details { margin-top: 1.5rem } summary { cursor: pointer; color: var(--faint) }
@media print { body { max-width: none; margin: 0 } section { break-inside: avoid } })";

} // namespace krylith::tool
