/** What the report's look adds to that of every page. */
export const reportStyle = `
:root { --chip: #fdf0d8; --chip-text: #7a4a00; }
@media (prefers-color-scheme: dark) { :root { --chip: #3d2f14; --chip-text: #f2c879; } }
@media print { :root { --chip: #fff; --chip-text: #000; } }
body { max-width: 80rem; }
h1 { font-size: 1.75rem; letter-spacing: -0.01em; }
h2 { margin: 3rem 0 0.25rem; font-size: 1.25rem; }
p { margin: 0.25rem 0 1rem; color: var(--quiet); }
dl {
  display: grid; grid-template-columns: repeat(6, 1fr); gap: 1px;
  margin: 1.5rem 0 2rem; overflow: hidden;
  border: 1px solid var(--line); border-radius: 10px; background: var(--line);
}
dl div { padding: 0.7rem 1rem; background: var(--card); }
dl .wide { grid-column: 1 / -1; }
dt { color: var(--quiet); font-size: 0.8rem; }
dd { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
dl div:not(.wide) dd { font-size: 1.2rem; font-weight: 600; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.25rem; }
figure, .review { min-width: 0; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
figcaption { margin-bottom: 0.75rem; font-weight: 600; }
figcaption small { display: block; color: var(--quiet); font-size: 0.85rem; font-weight: 400; }
figure svg { max-width: 44rem; margin: 0 auto; }
.review { padding-block: 0.5rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; color: var(--quiet); font-size: 0.8rem; font-weight: 500; }
td, th { padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
tbody tr:last-child td { border-bottom: 0; }
td:nth-child(2) { white-space: nowrap; font-variant-numeric: tabular-nums; }
.why { display: inline-block; margin: 0 0.3rem 0.2rem 0; padding: 0 0.5rem; border-radius: 99px; font-size: 0.85rem; white-space: nowrap; background: var(--chip); color: var(--chip-text); }
@media (max-width: 60rem) { dl { grid-template-columns: repeat(3, 1fr); } }
@media (max-width: 44rem) {
  dl { grid-template-columns: repeat(2, 1fr); }
  body { padding-top: 1.5rem; }
  figure { padding: 1rem 0.75rem; }
  svg text { font-size: 14px; }
  .bar-list li { grid-template-columns: minmax(0, 9.5em) minmax(0, 1fr) 3em; }
  thead { display: none; }
  tr, td { display: block; }
  td { padding: 0; border: 0; }
  td:nth-child(2), td:nth-child(3) { color: var(--quiet); font-size: 0.85rem; }
  td:nth-child(4) { padding-bottom: 0.75rem; }
  tr { padding-top: 0.75rem; }
  tr + tr { border-top: 1px solid var(--line); }
}
@media print {
  body { padding: 0; max-width: none; }
  figure, tr { break-inside: avoid; }
}
`;
