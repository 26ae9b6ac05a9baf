import type { Handler, Hono } from "hono";
import { z } from "zod";
import { deciderOf, type Routing } from "../decision/decide.ts";
import type { TierEntry } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import type { Metrics } from "../metrics.ts";
import type { FeedbackRecord } from "../records/message-record.ts";
import { type ClientEnv, readJson } from "./client-request.ts";
import { HttpError } from "./failures.ts";
import type { Guards } from "./guards.ts";

interface StatusParts {
  readonly page: { readonly html: string };
  readonly routing: Routing & Required<Pick<Routing, "latest">>;
  readonly instance: string;
  readonly metrics: Metrics;
  readonly guards: Guards;
  readonly drawDecisions?: () => Promise<string>;
  readonly keepFeedback?: (record: FeedbackRecord) => void;
  readonly logDropped?: () => number;
  readonly pricesTried?: Promise<void>;
  readonly isStopping?: () => boolean;
}

/** Adds the routes of the page and of operators; none asks a model. */
export function addStatusRoutes(app: Hono<ClientEnv>, parts: StatusParts): void {
  const { page, metrics, drawDecisions, isStopping, logDropped } = parts;
  const { registry } = metrics;
  const { latest, tierModels, prices } = parts.routing;
  app.get("/", (c) => c.html(page.html, 200, { "Cache-Control": "no-store" }));
  app.get("/decisions", async (c) => {
    if (drawDecisions === undefined) throw new HttpError(404, withoutLog("decisions"));
    return c.html(await drawDecisions(), 200, { "Cache-Control": "no-store" });
  });
  app.get("/tiers", async (c) => {
    await parts.pricesTried;
    const tiers = tierNames.map((tier): TierEntry => {
      const model = tierModels[tier];
      return { tier, model, price: prices.get(model) ?? null };
    });
    return c.json(tiers);
  });
  app.post("/feedback", ...parts.guards.body, feedbackRoute(parts));
  app.get("/healthz", (c) => c.json({ status: "alive" }));
  app.get("/readyz", (c) => {
    const { evaluatorModelId, wire } = latest.answer;
    const [status, code] =
      isStopping?.() === true ? (["stopping", 503] as const) : (["ready", 200] as const);
    const log = logDropped && { decisionLog: { dropped: logDropped() } };
    return c.json({ status, ...log, decider: deciderOf(evaluatorModelId, wire) }, code);
  });
  app.get("/metrics", async (c) =>
    c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType }),
  );
}

const feedbackSchema = z.object({
  requestId: z.string().regex(/^[\w\-=]{1,255}$/, "is no id that this router gave"),
  tier: z.enum(tierNames, `is none of ${tierNames.join(", ")}`),
});

/** Takes `{ requestId, tier }`: the tier that would have been right. */
function feedbackRoute({ instance, keepFeedback, metrics }: StatusParts): Handler<ClientEnv> {
  return async (c) => {
    const { data, error } = feedbackSchema.safeParse(await readJson(c.req));
    if (data === undefined) {
      const [issue] = error.issues;
      const problem = `${issue?.path.map(String).join(".") || "the body"} ${issue?.message}`;
      throw new HttpError(400, `Send { "requestId": "…", "tier": "…" }: ${problem}.`);
    }
    if (keepFeedback === undefined) throw new HttpError(409, withoutLog("feedback"));
    const { requestId, tier } = data;
    keepFeedback({ time: new Date().toISOString(), instance, requestId, feedback: tier });
    metrics.feedback.inc({ tier });
    return c.body(null, 204);
  };
}

function withoutLog(what: string): string {
  return `Nothing keeps ${what} here: start the router with ROUTER_DECISION_LOG.`;
}
