import { type JsonValue, type Question, truthsOf } from "evaluator-client";
import { sourceHash } from "evaluator-kit";
import { html, raw } from "hono/html";
import type { Truth } from "./label-file.ts";
import type { LabelSheet } from "./label-sheet.ts";

/** The answers a person can give, in the order they are shown. */
export interface AnswerKey {
  readonly truth: Truth;
  readonly name: string;
  readonly description: string;
  /** The key that gives it; null where there are more options than keys. */
  readonly key: string | null;
}

// Without b for back and s for skip.
const optionKeys = "123456789acdefghijklmnopqrtuvwxyz";

/** Returns the answers to a question, each with its key; none if a person cannot give one. */
export function answerKeys(question: Question): AnswerKey[] {
  return (truthsOf(question) ?? []).map((answer, index) => {
    const { truth, name } = answer;
    const byForm = { boolean: name.charAt(0), number: name, string: optionKeys[index] ?? null };
    return Object.assign({ key: byForm[typeof truth as keyof typeof byForm] }, answer);
  });
}

/** Where a person is in a sheet. */
export interface SheetView {
  readonly sheet: LabelSheet;
  readonly sheets: readonly LabelSheet[];
  /** The index of the record shown, or null at the end. */
  readonly at: number | null;
  readonly labelled: number;
  /** The label of the record shown. */
  readonly truth: Truth | null;
  /** What to run once enough is labelled. */
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
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --text: #1c2430; --quiet: #5d6878; --line: #d5dbe3; --accent: #2f6fc4;
}
@media (prefers-color-scheme: dark) {
  :root { --page: #12161c; --card: #1b212a; --text: #e6eaf0; --quiet: #98a3b3; --line: #3a4452; --accent: #6ea8f5; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 46rem; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; color: var(--quiet); }
header a, header strong { white-space: nowrap; }
a { color: var(--accent); }
progress { width: 100%; height: 6px; margin: 0.75rem 0 1rem; accent-color: var(--accent); }
article { padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
dl { margin: 0; }
dt { color: var(--quiet); font-size: 0.85rem; }
dd { margin: 0 0 0.75rem; overflow-wrap: anywhere; white-space: pre-wrap; }
h1 { margin: 1.25rem 0 0.75rem; font-size: 1.15rem; }
form { display: grid; gap: 0.5rem; }
button { display: flex; gap: 0.75rem; align-items: baseline; padding: 0.6rem 0.9rem; font: inherit; text-align: left; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
button:hover, button:focus-visible { border-color: var(--accent); }
button[aria-pressed="true"] { border-width: 2px; border-color: var(--accent); }
button small { color: var(--quiet); }
kbd { min-width: 1.6em; padding: 0 0.35em; border: 1px solid var(--line); border-radius: 5px; text-align: center; font: 0.9em ui-monospace, monospace; }
nav { display: flex; gap: 1.5rem; margin-top: 1rem; align-items: baseline; }
code { display: block; margin: 0.75rem 0; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); overflow-wrap: anywhere; }
`;

// Whole, since the hashes below are of what stands between the tags.
const styleElement = `<style>${style}</style>`;
const scriptElement = `<script>${script}</script>`;

/** What the page may do, as the header `Content-Security-Policy` says it. */
export const pagePolicy = [
  "default-src 'none'",
  `script-src '${sourceHash(script)}'`,
  `style-src '${sourceHash(style)}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Returns the page that shows one record and asks one question, without the answer of the model. */
export async function labelPage(view: SheetView): Promise<string> {
  const { sheet, sheets, labelled, at } = view;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Label ${sheet.id}: ${labelled} of ${sheet.records.length}</title>
        ${raw(styleElement)}
      </head>
      <body>
        <header>
          <strong>${labelled} of ${sheet.records.length} labelled</strong>
          ${sheets.map((other) => questionLink(other, sheet))}
        </header>
        <progress
          value="${labelled}"
          max="${sheet.records.length}"
          aria-label="Labelled"
        ></progress>
        <main>${at === null ? ending(view) : recordForm(view, at)}</main>
        ${raw(scriptElement)}
      </body>
    </html> `;
  return String(await page);
}

function questionLink(other: LabelSheet, shown: LabelSheet) {
  if (other === shown) return html`<span aria-current="page">${other.id}</span>`;
  return html`<a href="${linkTo(other.id, "from", 0)}">${other.id}</a>`;
}

function recordForm({ sheet, truth }: SheetView, at: number) {
  const record = sheet.records[at];
  if (record === undefined) return html``;
  return html`<article><dl>${fieldsOf(record.state)}</dl></article>
    <h1>${toText(sheet.question.instructions)}</h1>
    <form id="answers" method="post" action="/labels">
      <input type="hidden" name="question" value="${sheet.id}" />
      <input type="hidden" name="at" value="${at}" />
      <input type="hidden" name="id" value="${record.id}" />
      ${answerKeys(sheet.question).map((answer, index) => answerButton(answer, index, truth))}
    </form>
    <nav>
      ${at === 0 ? "" : html`<a data-key="b" href="${linkTo(sheet.id, "at", at - 1)}"><kbd>b</kbd> back</a>`}
      <button form="answers" name="answer" value="skip" data-key="s">
        <kbd>s</kbd> skip, I cannot tell
      </button>
    </nav>`;
}

function answerButton(
  { key, name, description, truth }: AnswerKey,
  index: number,
  said: Truth | null,
) {
  return html`<button
    name="answer"
    value="${index}"
    aria-pressed="${String(truth === said)}"
    data-key="${key ?? ""}"
  >
    <kbd>${key ?? "·"}</kbd><span>${name} <small>${toText(description)}</small></span>
  </button>`;
}

function ending({ sheet, labelled, nextCommand }: SheetView) {
  const left = sheet.records.length - labelled;
  return html`<h1>${left === 0 ? "All labelled." : `${left} left without a label.`}</h1>
    ${
      left === 0
        ? ""
        : html`<p>
            <a data-key="b" href="${linkTo(sheet.id, "from", 0)}"><kbd>b</kbd> show them again</a>
          </p>`
    }
    <p>What may be automated, and at which threshold:</p>
    <code>${nextCommand}</code>`;
}

/** Returns the address of a record: one by its index, or the first without a label from there on. */
export function linkTo(question: string, parameter: "at" | "from", index: number): string {
  return `/?question=${encodeURIComponent(question)}&${parameter}=${index}`;
}

function fieldsOf(state: JsonValue) {
  const isRecord = typeof state === "object" && state !== null && !Array.isArray(state);
  const fields = isRecord ? Object.entries(state) : [["state", state] as const];
  return fields.map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${toText(value)}</dd>`,
  );
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
