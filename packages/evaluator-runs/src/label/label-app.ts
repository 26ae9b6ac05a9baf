import { isForeignRequest } from "evaluator-kit";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { LabelFile } from "./label-file.ts";
import { answerKeys, labelPage, linkTo, pagePolicy } from "./label-page.ts";
import type { LabelSheet } from "./label-sheet.ts";

const MAX_FORM_BYTES = 65_536;

/** What the page works on. */
export interface LabelAppOptions {
  readonly sheets: readonly LabelSheet[];
  /** The question shown first. */
  readonly first: LabelSheet;
  readonly labels: LabelFile;
  /** Who labels, as the file says it. */
  readonly labeler: string;
  /** What to run once enough is labelled. */
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

async function showRecord(c: Context, { sheets, first, labels, nextCommand }: LabelAppOptions) {
  const sheet = sheets.find(({ id }) => id === c.req.query("question")) ?? first;
  const isLabelled = sheet.records.map(({ id }) => labels.truthOf(sheet.id, id) !== null);
  const at = c.req.query("at") === undefined ? null : indexSchema.parse(c.req.query("at"));
  const next = isLabelled.indexOf(false, indexSchema.parse(c.req.query("from") ?? 0));
  const shown = at !== null && at < sheet.records.length ? at : next === -1 ? null : next;
  const record = shown === null ? undefined : sheet.records[shown];
  const truth = record === undefined ? null : labels.truthOf(sheet.id, record.id);
  const labelled = isLabelled.filter(Boolean).length;
  return c.html(await labelPage({ sheet, sheets, at: shown, labelled, truth, nextCommand }));
}

async function saveLabel(c: Context, { sheets, labels, labeler }: LabelAppOptions) {
  const form = formSchema.safeParse(await c.req.parseBody());
  if (!form.success) return c.text("That is no label of this page.", 400);
  const { question, id, at, answer } = form.data;
  const sheet = sheets.find((candidate) => candidate.id === question);
  const record = sheet?.records.find((candidate) => candidate.id === id);
  // A skip is kept: calibrate counts it as wrong, since records that no one can judge are rarely random.
  const truth = answer === "skip" ? null : sheet && answerKeys(sheet.question)[answer]?.truth;
  if (record === undefined || truth === undefined)
    return c.text("That is no label of this page.", 400);
  const skipped = truth === null && { skipped: true };
  await labels.save({ id, question, truth, ...skipped, weight: record.weight, labeler });
  return c.redirect(linkTo(question, "from", at + 1), 303);
}
