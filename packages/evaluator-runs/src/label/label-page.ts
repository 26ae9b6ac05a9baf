import { type JsonValue, type Question, truthsOf } from "evaluator-client";
import { isRecord, page } from "evaluator-kit";
import { html } from "evaluator-kit/html";
import type { LabelFile } from "./label-file.ts";
import type { LabelSheet } from "./label-sheet.ts";

// Without b for back and s for skip.
const optionKeys = "123456789acdefghijklmnopqrtuvwxyz";

/** Returns the answers to a question with their keys; a key is null if there are more options than keys. */
export function answerKeys(question: Question) {
  return (truthsOf(question) ?? []).map(({ truth, name, description }, index) => {
    const byForm = { boolean: name.charAt(0), number: name, string: optionKeys[index] ?? null };
    return { truth, name, description, key: byForm[typeof truth as keyof typeof byForm] };
  });
}

type SavedLabel = ReturnType<LabelFile["find"]>;

interface SheetView {
  readonly sheets: readonly LabelSheet[];
  readonly sheet: LabelSheet;
  /** The label of each record of the sheet. */
  readonly saved: readonly SavedLabel[];
  /** The record shown, and its index; null at the end. */
  readonly record: { readonly id: string; readonly at: number; readonly state: JsonValue } | null;
  readonly nextCommand: string;
}

const script = `
let isSent = false;
addEventListener("submit", () => { isSent = true; });
addEventListener("pageshow", () => { isSent = false; });
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isSent) return;
  const target = document.querySelector('[data-key="' + CSS.escape(event.key.toLowerCase()) + '"]');
  if (target === null) return;
  event.preventDefault();
  isSent = true;
  target.click();
});
`;

const style = `
body { max-width: 46rem; font-size: 16px; }
footer { margin-top: 2rem; color: var(--quiet); font-size: 0.85rem; }
[role="status"] { margin: 0.75rem 0; font-weight: 600; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; color: var(--quiet); }
header a, header strong { white-space: nowrap; }
a { color: var(--accent); }
progress { width: 100%; height: 6px; margin: 0.75rem 0 1rem; accent-color: var(--accent); }
article { padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
dt { color: var(--quiet); font-size: 0.85rem; }
dd { margin-bottom: 0.75rem; overflow-wrap: anywhere; white-space: pre-wrap; }
h1 { margin: 1.25rem 0 0.75rem; font-size: 1.15rem; }
form { display: grid; gap: 0.5rem; }
button { display: flex; gap: 0.75rem; align-items: baseline; padding: 0.6rem 0.9rem; font: inherit; text-align: left; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
button:hover, button:focus-visible { border-color: var(--accent); }
button[aria-pressed="true"] { border-width: 2px; border-color: var(--accent); }
button small { color: var(--quiet); }
kbd { min-width: 1.6em; padding: 0 0.35em; border: 1px solid var(--line); border-radius: 5px; text-align: center; font: 0.9em ui-monospace, monospace; }
nav { display: flex; gap: 1.5rem; margin-top: 1rem; align-items: baseline; }
@media (hover: none) { kbd { display: none; } }
@media (max-width: 40rem) { article { max-height: 50vh; overflow: auto; } }
code { display: block; margin: 0.75rem 0; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); overflow-wrap: anywhere; }
`;

/** Returns the page of one record and one question, without the model's answer. */
export function labelPage(view: SheetView) {
  const { sheet, sheets, saved, record } = view;
  const labelled = saved.filter((label) => label !== undefined).length;
  const skipped = saved.filter((label) => label?.truth === null).length;
  // For a promise, the records are drawn one by one.
  const counts = sheet.lines === undefined ? `${labelled} of ${saved.length}` : `${labelled}`;
  const title = `${counts} labelled${skipped === 0 ? "" : `, ${skipped} skipped`}`;
  const body = html`<header>
      <strong>${title}</strong>
      ${sheets.map((other) => questionLink(other, sheet))}
    </header>
    ${promiseOf(sheet) ?? html`<progress value="${labelled}" max="${saved.length}" aria-label="Labelled"></progress>`}
    <main>${record === null ? ending(view) : recordForm(view, record)}</main>
    ${sheet.limits === undefined ? null : html`<footer>${sheet.limits.join(" ")}</footer>`}`;
  return page({ title: `Label ${sheet.id}: ${counts}`, style, script, formsTo: "self", body });
}

function promiseOf({ lines }: LabelSheet) {
  return lines && html`<div role="status">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

function questionLink(other: LabelSheet, shown: LabelSheet) {
  if (other === shown) return html`<span aria-current="page">${other.id}</span>`;
  return html`<a href="${linkTo(other.id, "from", 0)}">${other.id}</a>`;
}

function recordForm(
  { sheet, saved }: SheetView,
  { id, at, state }: NonNullable<SheetView["record"]>,
) {
  return html`<article tabindex="0"><dl>${fieldsOf(state)}</dl></article>
    <h1>${toText(sheet.question.instructions)}</h1>
    <form id="answers" method="post" action="labels">
      <input type="hidden" name="question" value="${sheet.id}" />
      <input type="hidden" name="at" value="${at}" />
      <input type="hidden" name="id" value="${id}" />
      ${answerKeys(sheet.question).map((answer, index) => answerButton(answer, index, saved[at]))}
    </form>
    <nav>
      ${at === 0 ? null : html`<a data-key="b" href="${linkTo(sheet.id, "at", at - 1)}"><kbd>b</kbd> back</a>`}
      <button
        form="answers"
        name="answer"
        value="skip"
        data-key="s"
        aria-pressed="${String(saved[at]?.truth === null)}"
      >
        <kbd>s</kbd> skip, I cannot tell
      </button>
      ${sheet.lines === undefined ? null : finishForm}
    </nav>`;
}

function answerButton(
  { key, name, description, truth }: ReturnType<typeof answerKeys>[number],
  index: number,
  saved: SavedLabel,
) {
  return html`<button
    name="answer"
    value="${index}"
    aria-pressed="${String(truth === saved?.truth)}"
    data-key="${key ?? ""}"
  >
    <kbd>${key ?? "·"}</kbd><span>${name} <small>${toText(description)}</small></span>
  </button>`;
}

function ending({ sheet, saved, nextCommand }: SheetView) {
  const open = saved.filter((label) => label === undefined).length;
  const skipped = saved.findIndex((label) => label?.truth === null);
  const [to, what] =
    open > 0
      ? [linkTo(sheet.id, "from", 0), "show them"]
      : [linkTo(sheet.id, "at", skipped), "show the skipped ones again"];
  return html`<h1>${open === 0 ? "All labelled." : `${open} left without a label.`}</h1>
    ${
      open === 0 && skipped === -1
        ? null
        : html`<p>
            <a data-key="b" href="${to}"><kbd>b</kbd> ${what}</a>
          </p>`
    }
    <p>The next command shows what may be automated, and at which threshold:</p>
    <code>${nextCommand}</code>
    ${finishForm}`;
}

const finishForm = html`<form method="post" action="end">
  <button data-key="escape"><kbd>esc</kbd> finish</button>
</form>`;

/** Returns the address of a record: by its index, or the first one without a label from there on. */
export function linkTo(question: string, parameter: "at" | "from", index: number): string {
  return `./?question=${encodeURIComponent(question)}&${parameter}=${index}`;
}

function fieldsOf(state: JsonValue) {
  const fields = isRecord(state) ? Object.entries(state) : [["state", state] as const];
  return fields.map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${toText(value)}</dd>`,
  );
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
