import { iconFile, type TextSink } from "evaluator-kit";
import { Hono } from "hono";
import { requestId } from "hono/request-id";
import { toDecider, type Routing } from "./decision/decide.ts";
import type { TierEntry } from "./decision/decision.ts";
import { tierNames } from "./decision/tier-question.ts";
import { MessageRouter } from "./message-router.ts";
import type { MessageRecord } from "./records/message-record.ts";
import { MinuteLimits } from "./keys/minute-limits.ts";
import { createMetrics } from "./metrics.ts";
import { addApiRoutes } from "./apis/api-route.ts";
import { apis } from "./apis/apis.ts";
import { addFailureRoutes, toApiPath } from "./apis/errors.ts";
import type { Calibrations } from "./evaluations/calibrations.ts";
import { evaluationForms } from "./evaluations/evaluation-forms.ts";
import type { EvaluationRecord } from "./evaluations/evaluation-record.ts";
import { EvaluationRouter } from "./evaluation-router.ts";
import { addEvaluationRoutes } from "./routes/evaluation-routes.ts";
import { findPrice } from "./decision/replies.ts";
import { CallBudget } from "./keys/call-budget.ts";
import type { BlindShadow } from "./blind/blind-shadow.ts";
import { keyStatus } from "./keys/key-status.ts";
import type { Ledger } from "./keys/ledger.ts";
import type { RouterOptions } from "./router-options.ts";
import { addChatRoutes } from "./routes/chat-route.ts";
import { type ClientEnv, traced } from "./routes/client-request.ts";
import { addGuards } from "./routes/guards.ts";
import { withBudget } from "./routes/with-budget.ts";
import { addLogRoutes } from "./routes/log-routes.ts";
import type { Services } from "./services/connect-services.ts";

type AppParts = Parameters<typeof addGuards>[1] & {
  readonly options: RouterOptions;
  readonly services: Services;
  readonly prices: Routing["prices"];
  readonly calibration?: Routing["calibration"];
  readonly calibrations?: Calibrations;
  readonly fit?: Routing["fit"];
  readonly page: { readonly html: string };
  readonly observe?: (record: MessageRecord) => void;
  readonly observeEvaluation?: (record: EvaluationRecord) => void;
  /** Keeps messages and feedback, which `/feedback` and `/decisions` need. @default null */
  readonly log?: Parameters<typeof addLogRoutes>[1]["log"];
  /** Keeps the budgets of the keys. @default null */
  readonly ledger?: Ledger | null;
  readonly blindShadow?: Pick<BlindShadow, "watch"> | null;
  readonly accessLog?: TextSink;
  /** A clock that is never set, in milliseconds. @default performance.now */
  readonly now?: () => number;
  readonly isStopping?: () => boolean;
};

/** Returns the router as a web application, with every endpoint and every guard, and the number of its calls. */
export function createApp(parts: AppParts) {
  const { options, services, prices, reportDefect } = parts;
  const { calibration = null, fit = null, log = null, ledger = null, blindShadow } = parts;
  const { policy, instance, pingMs } = options;
  // The emulator in this process is known before its first answer.
  const isEmulator = toDecider(null, services.engineAddress).isEmulated === true;
  const wire = isEmulator ? services.engineAddress : null;
  const latest = { answer: { evaluatorModelId: null, wire } };
  const routing = { services, policy, prices, calibration, fit, latest };
  const app = new Hono<ClientEnv>({ getPath: toApiPath });
  const metrics = createMetrics(() => guards.callsInFlight(), log?.dropped);
  const minuteLimits = parts.keys ? new MinuteLimits(parts.now) : undefined; // the owner has none
  const countTokens =
    minuteLimits &&
    (({ key, inputTokens, outputTokens }: MessageRecord | EvaluationRecord) =>
      key !== null && minuteLimits.addTokens(key, (inputTokens ?? 0) + (outputTokens ?? 0)));
  const namedRouting = { ...routing, instance: instance ?? "router" };
  const router = new MessageRouter({
    ...namedRouting,
    observers: [metrics.observe, countTokens, log?.add, parts.observe].filter(
      (observer) => observer !== undefined,
    ),
    blindShadow,
  });
  const evaluationRouter = new EvaluationRouter({
    ...namedRouting,
    observers: [metrics.observeEvaluation, countTokens, log?.add, parts.observeEvaluation].filter(
      (observer) => observer !== undefined,
    ),
    hasText: options.hasLogText,
    calibrations: parts.calibrations ?? new Map(),
  });
  app.use(requestId(), metrics.accessLog(parts.accessLog));
  const guards = addGuards(app, { ...parts, minuteLimits });
  if (ledger !== null) app.use(withBudget((key) => new CallBudget(key, { ledger, prices })));
  addFailureRoutes(app, { redact: services.redact, reportDefect });
  const postPaths = [...apis, ...evaluationForms].map(({ path }) => path);
  for (const path of ["/chat", "/decide", ...postPaths]) {
    if (services.tracing !== null) app.use(path, traced(services.tracing));
  }
  addChatRoutes(app, router, { guards, pingMs });
  addApiRoutes(app, { router, routing, options, guards });
  addEvaluationRoutes(app, { router: evaluationRouter, guards });
  addStatusRoutes(app, parts, latest);
  addLogRoutes(app, { log, options, guards, feedback: metrics.feedback });
  app.get("/metrics", async (c) =>
    c.body(await metrics.registry.metrics(), 200, { "Content-Type": metrics.registry.contentType }),
  );
  return Object.assign(app, { callsInFlight: guards.callsInFlight });
}

function addStatusRoutes(
  app: Hono<ClientEnv>,
  { page, services, prices, log = null, ledger = null, pricesTried, isStopping }: AppParts,
  latestAnswer: NonNullable<Routing["latest"]>,
): void {
  const noStore = { "Cache-Control": "no-store" };
  app.get("/", (c) => c.html(page.html, 200, noStore));
  app.get("/favicon.ico", (c) => c.body(...iconFile()));
  app.get("/v1/key", async (c) => c.json(await keyStatus(c.var.key, ledger), 200, noStore));
  app.get("/tiers", async (c) => {
    await pricesTried;
    const tierEntries = tierNames.map((tier): TierEntry => {
      const [target] = services.replies.current.tiers[tier].targets;
      return { tier, model: target.model, price: findPrice(target, prices) };
    });
    return c.json(tierEntries);
  });
  app.get("/healthz", (c) => c.json({ status: "alive" }));
  app.get("/readyz", (c) => {
    const { evaluatorModelId, wire } = latestAnswer.answer;
    const [status, code] =
      isStopping?.() === true ? (["stopping", 503] as const) : (["ready", 200] as const);
    const logStatus = log && { decisionLog: { dropped: log.dropped() } };
    return c.json({ status, ...logStatus, decider: toDecider(evaluatorModelId, wire) }, code);
  });
}
