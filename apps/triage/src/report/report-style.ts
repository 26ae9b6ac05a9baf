/** The report's additions to the common style of pages. */
export const reportStyle = `
:root {
  --chip: #e4edfa; --chip-text: #1d4f95; --scale-0: #dfe4eb; --scale-1: #b9cdea; --scale-2: #7fa8dc; --scale-3: #3470bd; --scale-4: #1d4f95; --on-2: #10151c;
  --yes: #a8480b; --good: #1c6b3c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --chip: #22344d; --chip-text: #a9cbf8; --scale-0: #303946; --scale-1: #33517a; --scale-2: #4474b4; --scale-3: #6da5ee; --scale-4: #a9cdfb; --on-2: #fff;
    --yes: #f2ab72; --good: #7fcf9c;
  }
}
@media print {
  :root {
    --chip: #fff; --chip-text: #000; --scale-0: #e5e5e5; --scale-1: #c4d3e8; --scale-2: #8fb0db; --scale-3: #3470bd; --scale-4: #1d4f95; --on-2: #10151c;
    --yes: #8a3600; --good: #000;
  }
}
html { scroll-padding-top: 1rem; }
body { max-width: 76rem; }
h1 { font-size: 1.75rem; letter-spacing: -0.01em; }
h2 { font-size: 1.2rem; }
a { color: var(--accent); }
.basis { margin-top: 0.35rem; }
.note { margin-top: 0.25rem; font-weight: 600; }
.about, .rest, figcaption small { color: var(--quiet); }
.about { margin: 0.1rem 0 0.6rem; font-size: 0.87rem; }
.count { margin-left: 0.2rem; color: var(--quiet); font-weight: 400; font-variant-numeric: tabular-nums; }
nav { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 1.1rem 0; }
nav a { padding: 0.2rem 0.7rem; border: 1px solid var(--line); border-radius: 99px; background: var(--card); color: var(--text); font-size: 0.87rem; text-decoration: none; }
nav a:hover { border-color: var(--accent); }
nav b { margin-left: 0.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.controls { margin-top: 1.1rem; display: flex; flex-wrap: wrap; gap: 0.6rem 1.5rem; align-items: center; padding: 0.7rem 1rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); font-size: 0.87rem; }
.controls fieldset { display: flex; flex-wrap: wrap; gap: 0.3rem 0.9rem; margin: 0; padding: 0; border: 0; }
.controls legend { float: left; padding: 0; color: var(--quiet); }
.controls label { display: inline-flex; gap: 0.4rem; align-items: center; max-width: 100%; }
.controls select { min-width: 0; text-overflow: ellipsis; }
.controls input[type="search"], .controls select, button { padding: 0.35rem 0.6rem; border: 1px solid var(--line); border-radius: 7px; background: var(--page); color: inherit; font: inherit; }
.controls input[type="search"] { width: 17rem; max-width: 100%; }
input[type="radio"], input[type="checkbox"] { margin: 0; accent-color: var(--accent); }
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { opacity: 0.5; cursor: default; }
:root:not(.scripted) .script-only, :root.scripted .no-script { display: none; }
main section, .plan, .context, .numbers { margin-top: 2.2rem; }
.context td, .signs { padding-left: 5.7rem; color: var(--quiet); overflow-wrap: anywhere; }
.signs b { color: var(--warn); font-weight: 500; }
.context th { min-width: 9rem; white-space: normal; vertical-align: top; overflow-wrap: anywhere; }
.context th { font-weight: 600; text-align: left; }
.context th small { display: block; color: var(--quiet); font-weight: 400; }
.senders { margin-top: 2.2rem; }
.context .scroll, .plan .scroll, .senders .scroll { padding: 0.3rem 1rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
.plan td:last-child { white-space: normal; min-width: 16rem; }
.plan td:nth-child(3) { text-align: right; }
.promised { color: var(--good); }
.unpromised { color: var(--quiet); }
code { font: 0.87em ui-monospace, monospace; overflow-wrap: anywhere; }
.mails { display: flex; flex-direction: column; margin: 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 10px; background: var(--card); overflow: hidden; }
:root:not(.scripted):has(#order-newest:checked) .mail { order: var(--day); }
:root:not(.scripted):has(#only-new:checked) .mail:not(.is-new) { display: none; }
.mail + .mail { border-top: 1px solid var(--line); }
.mail summary { display: grid; grid-template-columns: 4.2rem minmax(0, 1fr) 19rem; gap: 0.2rem 1.1rem; padding: 0.7rem 1rem; list-style: none; cursor: pointer; }
.mail summary::-webkit-details-marker { display: none; }
.mail summary:hover { background: color-mix(in srgb, var(--accent) 5%, transparent); }
.mail:has(summary:focus-visible) { outline: 2px solid var(--accent); outline-offset: -2px; }
.mail summary:focus-visible { outline: none; }
.level { display: block; align-self: start; padding-top: 0.15rem; text-align: center; font-variant-numeric: tabular-nums; }
.level b { display: block; border-radius: 7px; padding: 0.1rem 0; font-size: 1.05rem; }
.level-name { display: block; margin-top: 0.15rem; color: var(--quiet); font-size: 0.76rem; overflow-wrap: anywhere; }
.level-2 b { color: var(--on-2); }
.level-3 b, .level-4 b { color: var(--card); }
.level-none { color: var(--quiet); }
.head { display: block; min-width: 0; }
.line { display: flex; gap: 1rem; justify-content: space-between; }
.from { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 0.87rem; }
.from b { font-weight: 600; }
.address, time, .snippet { color: var(--quiet); }
time { flex: none; font-size: 0.82rem; font-variant-numeric: tabular-nums; }
.subject { display: block; font-weight: 600; overflow-wrap: anywhere; }
.is-new .subject::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.4rem; border-radius: 50%; background: var(--accent); vertical-align: 0.1em; }
.snippet { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 0.87rem; }
.why { display: block; margin-top: 0.1rem; font-size: 0.82rem; color: var(--quiet); overflow-wrap: anywhere; }
.mark { display: inline-block; padding: 0 0.45rem; border-radius: 99px; background: var(--chip); color: var(--chip-text); font-size: 0.76rem; font-weight: 500; vertical-align: 0.1em; }
.mark-warn { background: var(--warn-back); color: var(--warn); }
.mark-act { background: none; border: 1px solid var(--line); color: var(--text); }
.answers { display: grid; gap: 0.15rem; align-content: start; font-size: 0.78rem; }
.answer { display: grid; grid-template-columns: 5.2rem minmax(0, 1fr) 7.4rem; gap: 0.5rem; align-items: center; color: var(--quiet); }
.answer-name, .answer-value { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.answer-name { text-align: right; }
.answer-value { color: var(--text); font-variant-numeric: tabular-nums; }
.track { display: flex; height: 0.6rem; border-radius: 3px; overflow: hidden; background: color-mix(in srgb, var(--line) 55%, transparent); }
.part { display: block; height: 100%; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.level-0 b, .part-0 { background: var(--scale-0); }
.level-1 b, .part-1 { background: var(--scale-1); }
.level-2 b, .part-2 { background: var(--scale-2); }
.level-3 b, .part-3 { background: var(--scale-3); }
.level-4 b, .part-4 { background: var(--scale-4); }
.track-option .part, .track-probability .part { background: var(--scale-3); }
.is-yes .track-probability .part { background: var(--yes); }
.is-yes .answer-value { color: var(--yes); font-weight: 600; }
.more { padding: 0 1rem 0.9rem 6.3rem; font-size: 0.87rem; overflow-wrap: anywhere; }
.more dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1rem; margin-bottom: 0.6rem; }
.more dt { color: var(--quiet); }
.choices { display: flex; flex-wrap: wrap; gap: 0.4rem; margin-top: -0.3rem; padding: 0 1rem 0.7rem 6.3rem; font-size: 0.8rem; }
.choices > * { max-width: 14rem; padding: 0.15rem 0.55rem; border: 1px solid var(--line); border-radius: 7px; background: var(--page); color: inherit; font: inherit; }
.mail details:not([open]) + .choices > :is(select, [value="wrong"]) { display: none; }
.choices [value="done"] { order: -1; }
.is-away summary { text-decoration: line-through; }
.mail:not(.is-away) [value="open"], .is-away .choices > :not([value="open"]) { display: none; }
#saved:not(:empty) { position: sticky; top: 0; padding: 0.3rem 0; font-weight: 600; background: var(--page); }
.rest { margin-top: 0.6rem; font-size: 0.87rem; }
.turn { display: flex; gap: 0.6rem; margin-top: 0.8rem; }
.figures { display: grid; grid-template-columns: repeat(6, 1fr); gap: 1px; margin: 0.8rem 0 1.25rem; overflow: hidden; border: 1px solid var(--line); border-radius: 10px; background: var(--line); }
.figures div { padding: 0.6rem 1rem; background: var(--card); }
.figures dt { color: var(--quiet); font-size: 0.8rem; }
.figures dd { overflow-wrap: anywhere; font-size: 1.1rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.25rem; }
figure { min-width: 0; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
figcaption { margin-bottom: 0.75rem; font-weight: 600; }
figcaption small { display: block; font-size: 0.85rem; font-weight: 400; }
figure svg { max-width: 44rem; margin: 0 auto; }
@media (max-width: 60rem) {
  .mail summary { grid-template-columns: 4.2rem minmax(0, 1fr); }
  .answers { grid-column: 2; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.15rem 1rem; }
}
@media (max-width: 44rem) {
  body { padding: 1.25rem 0.75rem 2rem; }
  .figures { grid-template-columns: repeat(2, 1fr); }
  figure { padding: 1rem 0.6rem; }
  svg text { font-size: 15px; }
  svg .label, svg text[transform] { display: none; } /* the caption says it too, and the numbers need its room */
  svg text[text-anchor="middle"] { transform: translateY(7px); }
  .plan table, .plan tbody, .plan tr, .plan th { display: block; }
  .plan thead { display: none; }
  .plan .table th, .plan .table td { padding: 0; white-space: normal; }
  .plan .table tr { padding: 0.5rem 0; }
  .plan tr + tr { border-top: 1px solid var(--line); }
  .plan td { display: inline; }
  .plan td:nth-child(3) { margin: 0 0.5rem; font-weight: 600; }
  .bar-list li { grid-template-columns: minmax(0, 9.5em) minmax(0, 1fr) 3em; }
  .mail summary { grid-template-columns: 3.1rem minmax(0, 1fr); gap: 0.2rem 0.7rem; padding: 0.7rem; }
  .level-name { font-size: 0.7rem; }
  .line { display: block; }
  .keys { display: none; }
  .from { display: block; white-space: normal; overflow-wrap: anywhere; }
  .snippet { white-space: normal; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
  .answers { grid-column: 1 / -1; grid-template-columns: minmax(0, 1fr); margin-top: 0.3rem; }
  .answer { grid-template-columns: 5.6rem minmax(0, 1fr) 8rem; }
  .more { padding: 0 0.7rem 0.8rem; }
  .choices { margin-top: 0; padding: 0 0.7rem 0.7rem; }
  .more dl { grid-template-columns: minmax(0, 1fr); }
  .more dd { margin-bottom: 0.3rem; }
  .controls { padding: 0.7rem; }
  .controls label:has(input[type="search"]) { flex-basis: 100%; }
  .controls input[type="search"] { flex: 1; min-width: 0; }
}
@media print {
  html { font-size: 72%; }
  body { padding: 0; max-width: none; font-size: 1rem; }
  .controls, nav, .more, .choices, .turn, .rest button { display: none; }
  .mail summary { grid-template-columns: 4.2rem minmax(0, 1fr) 19rem; padding: 0.5rem 0.7rem; }
  .answers { grid-column: auto; grid-template-columns: minmax(0, 1fr); }
  .mails { overflow: visible; }
  .level b, .mark { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  figure, .mail, .plan tr { break-inside: avoid; }
  h2, .about { break-after: avoid; }
  .plots { grid-template-columns: repeat(2, 1fr); }
}
`;
