import type { TextSink } from "evaluator-kit";
import { Hono } from "hono";
import { except } from "hono/combine";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import type { Routing } from "./decision/decide.ts";
import { isEmulated } from "./decision/decider.ts";
import type { ContextMode, Decider } from "./decision/decision.ts";
import { MessageRouter } from "./message-router.ts";
import { createMetrics } from "./metrics.ts";
import { chatCompletionsRoute } from "./openai/chat-completions-route.ts";
import { createConversationReader } from "./openai/conversation.ts";
import { modelRoute, modelsRoute } from "./openai/models.ts";
import type { Page } from "./page/load-page.ts";
import type { FeedbackRecord, Observe } from "./records/message-record.ts";
import { chatRoute, decideRoute } from "./routes/chat-route.ts";
import { feedbackRoute } from "./routes/feedback-route.ts";
import { failureRoute, notFoundRoute, throwMethodError } from "./routes/failures.ts";
import { accessLog, type ClientEnv, traced } from "./routes/client-request.ts";
import {
  askingGuards,
  createCallSlots,
  keepClientSignal,
  MAX_CONVERSATION_BYTES,
  requireToken,
  sameOriginOnly,
  shortBody,
} from "./routes/guards.ts";
import {
  decisionsRoute,
  healthRoute,
  metricsRoute,
  pageRoute,
  readyRoute,
  tiersRoute,
} from "./routes/status-routes.ts";
import type { AnsweredHosts } from "./security/own-addresses.ts";
import { pageHeaders, reportHeaders } from "./security/security-headers.ts";

/** What the application is made of. */
export interface AppParts extends AnsweredHosts {
  readonly page: Page;
  readonly routing: Routing;
  /** Called with an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
  /** What the records call this process. @default "router" */
  readonly instance?: string;
  /** Further names of models at the OpenAI endpoint. @default none */
  readonly aliases?: ReadonlyMap<string, string>;
  /** What of a conversation is decided by. @default "last" */
  readonly context?: ContextMode;
  /** What a client must show, or null. @default null */
  readonly accessToken?: string | null;
  /** Calls that ask a model at once, at most. @default 64 */
  readonly maxCallsInFlight?: number;
  /** Called with what happened to each message. */
  readonly observe?: Observe;
  /** Draws the decision log as a page. @default there is none */
  readonly drawDecisions?: () => Promise<string>;
  /** Keeps what somebody said of a message's tier. @default nobody does */
  readonly keepFeedback?: (record: FeedbackRecord) => void;
  /** Returns how many records the decision log dropped. @default there is no log */
  readonly logDropped?: () => number;
  /** Called with one line for each response. @default there is no access log */
  readonly accessLog?: TextSink;
  /** Messages wait for it. @default nothing */
  readonly pricesTried?: Promise<void>;
  /** Returns whether the router takes no new messages. @default never */
  readonly isStopping?: () => boolean;
}

const reportPath = "/decisions";

/** Returns the router as a web application: every endpoint, and what every request passes first. */
export function createApp(parts: AppParts): Hono<ClientEnv> {
  const { page, routing, reportDefect, accessToken = null, logDropped = null } = parts;
  const { instance = "router", aliases = new Map<string, string>() } = parts;
  const { observe, isStopping = () => false, pricesTried = Promise.resolve() } = parts;
  const slots = createCallSlots(parts.maxCallsInFlight ?? 64);
  const metrics = createMetrics({ callsInFlight: slots.inUse, logDropped });
  const observers = [metrics.observe, ...(observe === undefined ? [] : [observe])];
  const isOwn = isEmulated(null, routing.services.engineAddress);
  let decider: Decider = { modelId: null, isEmulated: isOwn || null }; // until the first answer
  const onAnswer = (latest: Decider) => void (decider = latest);
  const router = new MessageRouter({ ...routing, onAnswer, instance, observers });
  const app = new Hono<ClientEnv>();
  app.use(requestId(), accessLog({ metrics, output: parts.accessLog ?? null }));
  app.use(keepClientSignal, except(reportPath, pageHeaders(page)));
  app.use(reportPath, reportHeaders());
  app.use(sameOriginOnly(parts));
  if (accessToken !== null) app.use(requireToken(accessToken));
  app.use(methodNotAllowed({ app, onMethodNotAllowed: throwMethodError }));
  const guards = askingGuards(slots, pricesTried);
  const feedback = { instance, keep: parts.keepFeedback ?? null, count: metrics.countFeedback };
  const longGuards = askingGuards(slots, pricesTried, MAX_CONVERSATION_BYTES);
  const { tierModels, prices, services } = routing;
  const names = { aliases, tierModels, prices, takesOpenAi: services.takesOpenAi };
  const readConversation = createConversationReader(parts.context ?? "last");
  const { shadowModel } = routing.policy;
  const completions = { router, names, readConversation, shadowModel, report: reportDefect };
  const { tracing = null } = routing.services;
  if (tracing !== null) {
    for (const path of ["/chat", "/decide", "/v1/chat/completions"]) app.use(path, traced(tracing));
  }
  app.get("/", pageRoute(page));
  app.get(reportPath, decisionsRoute(parts.drawDecisions ?? null));
  app.get("/tiers", tiersRoute(routing, pricesTried));
  app.post("/chat", ...guards, chatRoute(router, reportDefect));
  app.post("/decide", ...guards, decideRoute(router));
  app.get("/v1/models", modelsRoute(names));
  app.get("/v1/models/*", modelRoute(names));
  app.post("/v1/chat/completions", ...longGuards, chatCompletionsRoute(completions));
  app.post("/feedback", ...shortBody, feedbackRoute(feedback));
  app.get("/healthz", healthRoute);
  app.get("/readyz", readyRoute({ isStopping, logDropped, decider: () => decider }));
  app.get("/metrics", metricsRoute(metrics));
  app.notFound(notFoundRoute);
  app.onError(failureRoute({ redact: routing.services.redact, reportDefect }));
  return app;
}
