import type { HttpBindings } from "@hono/node-server";
import { type JsonValue, type Question, truthsOf } from "evaluator-client";
import { isRecord, page, truncateCharacters } from "evaluator-kit";
import { html, type Html } from "evaluator-kit/html";
import type { PageLink } from "evaluator-kit/page";
import type { Context } from "hono";
import { z } from "zod";
import type { LabelFile, SavedLabel } from "./label-file.ts";
import type { LabelSheet } from "./label-sheet.ts";
import { ownPage } from "./own-page.ts";

// Without b for back and s for skip.
const optionKeys = "123456789acdefghijklmnopqrtuvwxyz";

/** Returns the answers to a question with their keys; a key is null if there are more options than keys. */
export function answerKeys(question: Question) {
  return (truthsOf(question) ?? []).map(({ truth, name, description }, index) => {
    const byForm = { boolean: name.charAt(0), number: name, string: optionKeys[index] ?? null };
    return { truth, name, description, key: byForm[typeof truth as keyof typeof byForm] };
  });
}

interface SheetView {
  /** The program's name. */
  readonly program: string;
  /** This page and those beside it. */
  readonly pages: readonly PageLink[];
  readonly sheets: readonly LabelSheet[];
  readonly sheet: LabelSheet;
  /** The label of each record of the sheet. */
  readonly saved: readonly (SavedLabel | undefined)[];
  /** The record shown, and its index; null at the end. */
  readonly record: { readonly id: string; readonly at: number; readonly state: JsonValue } | null;
  readonly nextCommand: string;
  readonly note?: (labelledCount: number) => Html;
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

/** Returns the page of one record and one question, without the model's answer. */
export function labelPage(view: SheetView) {
  const { sheet, sheets, saved: sheetLabels, record } = view;
  const labelledCount = sheetLabels.filter((label) => label !== undefined).length;
  const skippedCount = sheetLabels.filter((label) => label?.truth === null).length;
  // For a promise, the records are drawn one by one.
  const counts =
    sheet.lines === undefined ? `${labelledCount} of ${sheetLabels.length}` : `${labelledCount}`;
  const open = sheetLabels.length - labelledCount;
  const remainingText = open === 0 ? "All labelled." : `${open} without a label.`;
  const heading = record === null ? remainingText : toText(sheet.question.instructions);
  const isLong = heading.length > HEADING;
  return page({
    tool: view.program,
    pages: view.pages,
    heading: isLong ? `${truncateCharacters(heading, HEADING - 1)}…` : heading,
    title: `Label ${sheet.id}: ${counts}`,
    about: html`${isLong ? html`<p>${heading}</p>` : null}
      <p class="about">
        <strong
          >${`${counts} labelled${skippedCount === 0 ? "" : `, ${skippedCount} skipped`}`}</strong
        >
      </p>
      ${toPromise(sheet) ?? html`<progress value="${labelledCount}" max="${sheetLabels.length}" aria-label="Labelled"></progress>`}`,
    body: html`${record === null ? ending(view) : recordForm(view, record)}
    ${view.note?.(labelledCount) ?? null}`,
    footer: html`${
      sheets.length < 2
        ? null
        : html`<nav class="contents" aria-label="Questions">
            ${sheets.map((other) => questionLink(other, sheet))}
          </nav>`
    }
    ${sheet.limits === undefined ? null : html`<p>${sheet.limits.join(" ")}</p>`}`,
    styles: [new URL("label.css", import.meta.url)],
    script,
    formsTo: "self",
  });
}

const HEADING = 80;

function toPromise({ lines }: LabelSheet) {
  return lines && html`<div role="status">${lines.map((line) => html`<p>${line}</p>`)}</div>`;
}

function questionLink(other: LabelSheet, shownLabelSheet: LabelSheet) {
  const current = other === shownLabelSheet ? html` aria-current="true"` : null;
  return html`<a href="${linkTo(other.id, "from", 0)}" ${current}>${other.id}</a>`;
}

function recordForm(
  { sheet, saved: sheetLabels }: SheetView,
  { id, at, state }: NonNullable<SheetView["record"]>,
) {
  return html`<article class="card" tabindex="0" aria-label="Record">
      <dl>${listFields(state)}</dl>
    </article>
    <form id="answers" method="post" action="labels">
      <input type="hidden" name="question" value="${sheet.id}" />
      <input type="hidden" name="at" value="${at}" />
      <input type="hidden" name="id" value="${id}" />
      ${answerKeys(sheet.question).map((answer, index) => answerButton(answer, index, sheetLabels[at]))}
    </form>
    <div class="steps">
      ${at === 0 ? null : html`<a data-key="b" href="${linkTo(sheet.id, "at", at - 1)}"><kbd>b</kbd> back</a>`}
      <button
        class="button"
        form="answers"
        name="answer"
        value="skip"
        data-key="s"
        aria-pressed="${String(sheetLabels[at]?.truth === null)}"
      >
        <kbd>s</kbd> skip, I cannot tell
      </button>
      ${sheet.lines === undefined ? null : finishForm}
    </div>`;
}

function answerButton(
  { key, name, description, truth }: ReturnType<typeof answerKeys>[number],
  index: number,
  savedLabel: SavedLabel | undefined,
) {
  return html`<button
    class="button"
    name="answer"
    value="${index}"
    aria-pressed="${String(truth === savedLabel?.truth)}"
    data-key="${key ?? ""}"
  >
    <kbd>${key ?? "·"}</kbd><span>${name} <small>${toText(description)}</small></span>
  </button>`;
}

function ending({ sheet, saved: sheetLabels, nextCommand }: SheetView) {
  const open = sheetLabels.filter((label) => label === undefined).length;
  const skippedIndex = sheetLabels.findIndex((label) => label?.truth === null);
  const [to, what] =
    open > 0
      ? [linkTo(sheet.id, "from", 0), "show them"]
      : [linkTo(sheet.id, "at", skippedIndex), "show the skipped ones again"];
  return html`${
      open === 0 && skippedIndex === -1
        ? null
        : html`<p>
            <a data-key="b" href="${to}"><kbd>b</kbd> ${what}</a>
          </p>`
    }
    <p>Next, see what may be automated, and at which threshold:</p>
    <code class="command">${nextCommand}</code>
    ${finishForm}`;
}

const finishForm = html`<form method="post" action="end">
  <button class="button" data-key="escape"><kbd>esc</kbd> finish</button>
</form>`;

/** Returns the address of a record: by its index, or the first one without a label from there on. */
function linkTo(question: string, parameter: "at" | "from", index: number): string {
  return `./?question=${encodeURIComponent(question)}&${parameter}=${index}`;
}

function listFields(state: JsonValue) {
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

interface LabelAppOptions extends Pick<SheetView, "program" | "pages"> {
  readonly sheets: readonly LabelSheet[];
  /** The question shown first. */
  readonly first: LabelSheet;
  readonly labels: LabelFile;
  /** The name of the person in the file. */
  readonly labeler: string;
  /** The command for the labels. */
  readonly nextCommand: string;
  /** Reads the state of a record. */
  readonly stateOf: (id: string) => Promise<JsonValue>;
  /** Returns a part of the page below the record, by the number of labels. @default none */
  readonly note?: (labelledCount: number) => Html;
  /** Prints a line on the terminal. @default nothing is printed */
  readonly print?: (line: string) => void;
  /** Answers a person who has finished. */
  readonly finish: (c: Context<{ Bindings: HttpBindings }>) => Response | Promise<Response>;
}

const indexSchema = z.coerce.number().int().min(0).catch(0);
const formSchema = z.object({
  question: z.string(),
  id: z.string(),
  at: indexSchema,
  answer: z.union([z.literal("skip"), z.coerce.number().int().min(0)]),
});

/**
 * Returns the page's routes: `GET /` shows a record, `POST /labels` saves its label at once, and
 * `POST /end` finishes.
 */
export function labelApp(options: LabelAppOptions) {
  const app = ownPage();
  app.get("/", (c) => showRecord(c, options));
  app.post("/labels", (c) => saveLabel(c, options));
  app.post("/end", options.finish);
  return app;
}

async function showRecord(c: Context, options: LabelAppOptions) {
  const { sheets, first, labels, labeler, stateOf } = options;
  const sheet = sheets.find(({ id }) => id === c.req.query("question")) ?? first;
  const { records } = sheet;
  const sheetLabels = savedLabels(sheet, labels, labeler);
  const wantedIndex = c.req.query("at") === undefined ? -1 : indexSchema.parse(c.req.query("at"));
  const next = sheetLabels.indexOf(undefined, indexSchema.parse(c.req.query("from") ?? 0));
  const at = wantedIndex in records ? wantedIndex : next;
  const { id } = records[at] ?? {};
  const record = id === undefined ? null : { id, at, state: await stateOf(id) };
  return c.html(labelPage({ ...options, sheet, saved: sheetLabels, record }));
}

/** Returns a person's label of each record of a sheet. */
export function savedLabels({ id, records }: LabelSheet, labels: LabelFile, labeler: string) {
  return records.map((record) => labels.find({ ...record, question: id, labeler }));
}

async function saveLabel(c: Context, { sheets, labels, labeler, print }: LabelAppOptions) {
  const form = formSchema.safeParse(await c.req.parseBody());
  const invalid = () => c.text("This page has no such label.", 400);
  if (!form.success) return invalid();
  const { question, id, at, answer } = form.data;
  const sheet = sheets.find((candidate) => candidate.id === question);
  // Calibrate counts a skip as wrong, since records that no one can judge are seldom random.
  const truth = answer === "skip" ? null : sheet && answerKeys(sheet.question)[answer]?.truth;
  const record = sheet?.records.findLast((one) => one.id === id);
  if (truth === undefined || sheet === undefined || record === undefined) return invalid();
  const { draw, origin, week } = record;
  const skippedField = truth === null && { skipped: true };
  await labels.save({ id, question, truth, ...skippedField, labeler, draw, origin, week });
  Object.assign(sheet, sheet.next?.());
  for (const line of sheet.lines ?? []) print?.(line);
  return c.redirect(linkTo(question, "from", at + 1), 303);
}
