import type { HttpBindings } from "@hono/node-server";
import type { Html } from "evaluator-kit/html";
import type { Context } from "hono";
import { z } from "zod";
import { readJournal } from "../journal/read-journal.ts";
import type { LabelFile } from "./label-file.ts";
import { answerKeys, labelPage, linkTo } from "./label-page.ts";
import type { LabelSheet } from "./label-sheet.ts";
import { ownPage } from "./own-page.ts";

interface LabelAppOptions extends Pick<Parameters<typeof labelPage>[0], "program" | "pages"> {
  readonly sheets: readonly LabelSheet[];
  /** The question shown first. */
  readonly first: LabelSheet;
  readonly labels: LabelFile;
  /** The name of the person in the file. */
  readonly labeler: string;
  /** The command for the labels. */
  readonly nextCommand: string;
  /** The path of the journal with the states of the records. */
  readonly journalPath: string;
  /** Returns a part of the page below the record, by the number of labels. @default none */
  readonly note?: (labelled: number) => Html;
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
  const { sheets, first, labels, labeler, journalPath } = options;
  const sheet = sheets.find(({ id }) => id === c.req.query("question")) ?? first;
  const { records } = sheet;
  const saved = savedLabels(sheet, labels, labeler);
  const wanted = c.req.query("at") === undefined ? -1 : indexSchema.parse(c.req.query("at"));
  const next = saved.indexOf(undefined, indexSchema.parse(c.req.query("from") ?? 0));
  const at = wanted in records ? wanted : next;
  const { id } = records[at] ?? {};
  const read = (id: string) => readJournal(journalPath, (journal) => journal.find(id), false);
  const record = id === undefined ? null : { id, at, state: (await read(id)).state };
  return c.html(labelPage({ ...options, sheet, saved, record }));
}

/** Returns a person's label of each record of a sheet. */
export function savedLabels({ id, records }: LabelSheet, labels: LabelFile, labeler: string) {
  return records.map((record) => labels.find({ ...record, question: id, labeler }));
}

async function saveLabel(c: Context, { sheets, labels, labeler, print }: LabelAppOptions) {
  const form = formSchema.safeParse(await c.req.parseBody());
  const invalid = () => c.text("That is no label of this page.", 400);
  if (!form.success) return invalid();
  const { question, id, at, answer } = form.data;
  const sheet = sheets.find((candidate) => candidate.id === question);
  // Calibrate counts a skip as wrong, since records that no one can judge are seldom random.
  const truth = answer === "skip" ? null : sheet && answerKeys(sheet.question)[answer]?.truth;
  const record = sheet?.records.findLast((one) => one.id === id);
  if (truth === undefined || sheet === undefined || record === undefined) return invalid();
  const { draw, origin, week } = record;
  const skipped = truth === null && { skipped: true };
  await labels.save({ id, question, truth, ...skipped, labeler, draw, origin, week });
  Object.assign(sheet, sheet.next?.());
  for (const line of sheet.lines ?? []) print?.(line);
  return c.redirect(linkTo(question, "from", at + 1), 303);
}
