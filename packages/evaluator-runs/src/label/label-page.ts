import { type JsonValue, type Question, truthsOf } from "evaluator-client";
import { isForeignRequest, sourceHash } from "evaluator-kit";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html, raw } from "hono/html";
import { z } from "zod";
import type { LabelFile } from "./label-file.ts";

/** One question, and the records drawn for it in order, without the model's answers. */
export interface LabelSheet {
  readonly id: string;
  readonly question: Question;
  readonly records: readonly {
    readonly id: string;
    readonly state: JsonValue;
    readonly weight: number;
  }[];
}

const MAX_FORM_BYTES = 65_536;

interface LabelAppOptions {
  readonly sheets: readonly LabelSheet[];
  /** The question shown first. */
  readonly first: LabelSheet;
  readonly labels: LabelFile;
  /** The name of the person, as the file has it. */
  readonly labeler: string;
  /** The command for the labels. */
  readonly nextCommand: string;
}

const indexSchema = z.coerce.number().int().min(0).catch(0);
const formSchema = z.object({
  question: z.string(),
  id: z.string(),
  at: indexSchema,
  answer: z.union([z.literal("skip"), z.coerce.number().int().min(0)]),
});

/** Returns the page's routes: `GET /` shows a record, `POST /labels` saves its label at once. */
export function labelApp(options: LabelAppOptions): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (isForeign(c)) return c.text("This page answers to its own address only.", 403);
    c.header("Content-Security-Policy", pagePolicy);
    c.header("X-Content-Type-Options", "nosniff");
    // With no-referrer a browser would name no origin for the form.
    c.header("Referrer-Policy", "same-origin");
    c.header("Cache-Control", "no-store");
    return await next();
  });
  app.get("/", (c) => showRecord(c, options));
  app.post("/labels", bodyLimit({ maxSize: MAX_FORM_BYTES }), (c) => saveLabel(c, options));
  app.notFound((c) => c.text("There is nothing here; the page is at /.", 404));
  app.onError((error, c) => c.text(`${error.message} Go back and try again.`, 500));
  return app;
}

function isForeign(c: Context): boolean {
  const [host, origin] = [c.req.header("host"), c.req.header("origin")];
  // Another program's page on this machine is foreign too.
  const isOwn = origin === undefined || origin === `http://${host}`;
  const site = c.req.header("sec-fetch-site") ?? "none";
  return !isOwn || isForeignRequest({ host }) || !["none", "same-origin"].includes(site);
}

async function showRecord(c: Context, options: LabelAppOptions) {
  const { sheets, first, labels } = options;
  const sheet = sheets.find(({ id }) => id === c.req.query("question")) ?? first;
  const isLabelled = sheet.records.map(({ id }) => labels.truthOf(sheet.id, id) !== null);
  const at = c.req.query("at") === undefined ? null : indexSchema.parse(c.req.query("at"));
  const next = isLabelled.indexOf(false, indexSchema.parse(c.req.query("from") ?? 0));
  const shown = at !== null && at < sheet.records.length ? at : next === -1 ? null : next;
  const labelled = isLabelled.filter(Boolean).length;
  return c.html(labelPage({ ...options, sheet, at: shown, labelled }));
}

async function saveLabel(c: Context, { sheets, labels, labeler }: LabelAppOptions) {
  const form = formSchema.safeParse(await c.req.parseBody());
  const invalid = () => c.text("That is no label of this page.", 400);
  if (!form.success) return invalid();
  const { question, id, at, answer } = form.data;
  const sheet = sheets.find((candidate) => candidate.id === question);
  const record = sheet?.records.find((candidate) => candidate.id === id);
  // Calibrate counts a skip as wrong, since records that no one can judge are seldom random.
  const truth = answer === "skip" ? null : sheet && answerKeys(sheet.question)[answer]?.truth;
  if (record === undefined || truth === undefined) return invalid();
  const skipped = truth === null && { skipped: true };
  await labels.save({ id, question, truth, ...skipped, weight: record.weight, labeler });
  return c.redirect(linkTo(question, "from", at + 1), 303);
}

// Without b for back and s for skip.
const optionKeys = "123456789acdefghijklmnopqrtuvwxyz";

// The answers to a question with their keys; null for a key if there are more options than keys.
function answerKeys(question: Question) {
  return (truthsOf(question) ?? []).map(({ truth, name, description }, index) => {
    const byForm = { boolean: name.charAt(0), number: name, string: optionKeys[index] ?? null };
    return { truth, name, description, key: byForm[typeof truth as keyof typeof byForm] };
  });
}

interface SheetView extends LabelAppOptions {
  readonly sheet: LabelSheet;
  /** The index of the record shown, or null at the end. */
  readonly at: number | null;
  readonly labelled: number;
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

// Without a template, since the hashes below are of the exact text between the tags.
const styleElement = `<style>${style}</style>`;
const scriptElement = `<script>${script}</script>`;

/** The `Content-Security-Policy` of the page. */
const pagePolicy = [
  "default-src 'none'",
  `script-src '${sourceHash(script)}'`,
  `style-src '${sourceHash(style)}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

// Shows one record and one question, without the model's answer.
function labelPage(view: SheetView) {
  const { sheet, sheets, labelled, at } = view;
  const total = sheet.records.length;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Label ${sheet.id}: ${labelled} of ${total}</title>
        ${raw(styleElement)}
      </head>
      <body>
        <header>
          <strong>${labelled} of ${total} labelled</strong>
          ${sheets.map((other) => questionLink(other, sheet))}
        </header>
        <progress value="${labelled}" max="${total}" aria-label="Labelled"></progress>
        <main>${at === null ? ending(view) : recordForm(view, at)}</main>
        ${raw(scriptElement)}
      </body>
    </html> `;
}

function questionLink(other: LabelSheet, shown: LabelSheet) {
  if (other === shown) return html`<span aria-current="page">${other.id}</span>`;
  return html`<a href="${linkTo(other.id, "from", 0)}">${other.id}</a>`;
}

function recordForm({ sheet, labels }: SheetView, at: number) {
  const record = sheet.records[at];
  if (record === undefined) return html``;
  const said = labels.truthOf(sheet.id, record.id);
  return html`<article><dl>${fieldsOf(record.state)}</dl></article>
    <h1>${toText(sheet.question.instructions)}</h1>
    <form id="answers" method="post" action="/labels">
      <input type="hidden" name="question" value="${sheet.id}" />
      <input type="hidden" name="at" value="${at}" />
      <input type="hidden" name="id" value="${record.id}" />
      ${answerKeys(sheet.question).map((answer, index) => answerButton(answer, index, said))}
    </form>
    <nav>
      ${at === 0 ? "" : html`<a data-key="b" href="${linkTo(sheet.id, "at", at - 1)}"><kbd>b</kbd> back</a>`}
      <button form="answers" name="answer" value="skip" data-key="s">
        <kbd>s</kbd> skip, I cannot tell
      </button>
    </nav>`;
}

function answerButton(
  { key, name, description, truth }: ReturnType<typeof answerKeys>[number],
  index: number,
  said: ReturnType<LabelFile["truthOf"]>,
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

/** Returns the address of a record: by its index, or the first one without a label from there on. */
function linkTo(question: string, parameter: "at" | "from", index: number): string {
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
