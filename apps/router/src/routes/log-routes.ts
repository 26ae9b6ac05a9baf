import type { Context, Hono } from "hono";
import type { Counter } from "prom-client";
import { z } from "zod";
import { oneOf } from "../config/fields.ts";
import { describeIssue } from "../config/router-config.ts";
import { tierNames } from "../decision/tier-question.ts";
import { HttpError } from "../http-error.ts";
import type { openDecisionLog } from "../records/decision-log.ts";
import { findMessage, listMessages, parseFilter } from "../report/latest-messages.ts";
import type { Note } from "../report/read-records.ts";
import type { RouterOptions } from "../router-options.ts";
import type { ClientEnv } from "./client-request.ts";
import { readJson } from "./json-body.ts";
import type { Guards } from "./guards.ts";

type DecisionLog = Omit<Awaited<ReturnType<typeof openDecisionLog>>, "reopen" | "close">;

interface LogParts {
  readonly log: DecisionLog | null;
  readonly options: Pick<RouterOptions, "instance" | "blind">;
  readonly guards: Guards;
  readonly feedback: Counter;
}

const noStore = { "Cache-Control": "no-store" };

/** Adds the pages of the decision log, each loaded when it is first read, and the routes that note feedback in it. */
export function addLogRoutes(app: Hono<ClientEnv>, logParts: LogParts): void {
  const { log, options, guards, feedback } = logParts;
  app.get("/decisions", async (c) => {
    const messageFilter = parseFilter(c.req.query());
    const listedPage = await listMessages(toPath(log), messageFilter);
    const { decisionsPage } = await import("../report/log-pages.ts");
    const { describeBlind, readPairs } = await import("../blind/blind-figures.ts");
    const isFirst = options.blind.share > 0 && Object.keys(messageFilter).length === 0;
    const blindText = isFirst ? describeBlind(await readPairs(toPath(log))) : null;
    return c.html(decisionsPage(messageFilter, listedPage, blindText), 200, noStore);
  });
  app.get("/decisions.json", async (c) => {
    const { messages, next } = await listMessages(toPath(log), parseFilter(c.req.query()));
    const { toListed } = await import("../report/log-pages.ts");
    return c.json({ messages: messages.map(toListed), next }, 200, noStore);
  });
  app.get("/decisions/:id", async (c) => {
    const { record, note } = await findMessage(toPath(log), c.req.param("id"));
    if (record === null)
      throw new HttpError(404, "The log's latest part has no message of this id.");
    const { messagePage } = await import("../report/log-pages.ts");
    return c.html(messagePage(record, note), 200, noStore);
  });
  app.post("/decisions/:id", async (c) => {
    const noteFields = { requestId: c.req.param("id"), thumb: c.req.query("thumb") };
    const thumbNote = parse(thumbSchema, noteFields, "Name a thumb, ?thumb=up or ?thumb=down");
    await addNote(logParts, thumbNote);
    return c.redirect(`/decisions/${thumbNote.requestId}`, 303);
  });
  app.get("/spend", async (c) => {
    const { spendPage } = await import("../report/log-pages.ts");
    return c.html(await spendPage(toPath(log), parseFilter(c.req.query())), 200, noStore);
  });
  app.post("/feedback", ...guards.body, async (c: Context<ClientEnv>) => {
    const usageText = 'Send { "requestId": "…", "tier": "…" }';
    const { tier, ...noteFields } = parse(feedbackSchema, await readJson(c.req), usageText);
    await addNote(logParts, { ...noteFields, feedback: tier });
    feedback.inc({ tier });
    return c.body(null, 204);
  });
}

function toPath(decisionLog: DecisionLog | null): string {
  if (decisionLog === null) throw new HttpError(404, withoutLog("decisions"));
  return decisionLog.path;
}

const requestId = z.string().regex(/^[\w\-=]{1,255}$/, "is no id that this router gave");
const thumbSchema = z.object({
  requestId,
  thumb: z.enum(["up", "down"], "is neither up nor down"),
});
const feedbackSchema = z.object({
  requestId,
  tier: oneOf(tierNames),
});

function parse<TFields>(schema: z.ZodType<TFields>, bodyFields: unknown, usage: string): TFields {
  const { success, data, error } = schema.safeParse(bodyFields);
  if (success) return data;
  throw new HttpError(400, `${usage}: ${describeIssue(error, "the body")}.`);
}

/** Notes feedback on a message; the page that is read next has it. */
async function addNote({ log, options }: LogParts, note: Omit<Note, "time">): Promise<void> {
  if (log === null) throw new HttpError(409, withoutLog("feedback"));
  const [time, instance] = [new Date().toISOString(), options.instance ?? "router"];
  log.add({ time, instance, ...note });
  await log.written();
}

function withoutLog(keptThing: string): string {
  return `Nothing keeps ${keptThing} here: start the router with ROUTER_DECISION_LOG.`;
}
