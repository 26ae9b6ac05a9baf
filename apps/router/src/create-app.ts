import type { TextSink } from "evaluator-kit";
import { Hono } from "hono";
import { requestId } from "hono/request-id";
import { deciderOf, type Routing } from "./decision/decide.ts";
import type { ContextMode } from "./decision/decision.ts";
import { MessageRouter } from "./message-router.ts";
import { createMetrics } from "./metrics.ts";
import { addOpenAiRoutes } from "./openai/chat-completions-route.ts";
import type { Page } from "./page/load-page.ts";
import type { FeedbackRecord, Observe } from "./records/message-record.ts";
import { addChatRoutes } from "./routes/chat-route.ts";
import { accessLog, type ClientEnv, traced } from "./routes/client-request.ts";
import { addFailureRoutes } from "./routes/failures.ts";
import { addGuards, type AnsweredHosts, createGuards } from "./routes/guards.ts";
import { addStatusRoutes } from "./routes/status-routes.ts";

/** The parts of the application. */
export interface AppParts extends AnsweredHosts {
  readonly page: Page;
  readonly routing: Routing;
  readonly reportDefect: (error: Error) => void;
  /** The router's name in its records. @default "router" */
  readonly instance?: string;
  /** Further names of models at the OpenAI endpoint. */
  readonly aliases?: ReadonlyMap<string, string>;
  /** The part of a conversation that decides. @default "last" */
  readonly context?: ContextMode;
  readonly accessToken?: string | null;
  /** The most calls that ask a model at once. @default 64 */
  readonly maxCallsInFlight?: number;
  readonly observe?: Observe;
  readonly drawDecisions?: () => Promise<string>;
  readonly keepFeedback?: (record: FeedbackRecord) => void;
  readonly logDropped?: () => number;
  readonly accessLog?: TextSink;
  /** Messages wait until this resolves. */
  readonly pricesTried?: Promise<void>;
  readonly isStopping?: () => boolean;
}

/** Returns the router as a web application, with every endpoint and every guard. */
export function createApp(parts: AppParts): Hono<ClientEnv> {
  const { routing, reportDefect, observe, instance = "router" } = parts;
  const { services } = routing;
  const guards = createGuards(parts.maxCallsInFlight ?? 64, parts.pricesTried);
  const metrics = createMetrics({
    callsInFlight: guards.callsInFlight,
    logDropped: parts.logDropped ?? null,
  });
  const observers = [metrics.observe, ...(observe === undefined ? [] : [observe])];
  // The emulator in this process is known before its first answer.
  const isEmulator = deciderOf(null, services.engineAddress).isEmulated === true;
  const wire = isEmulator ? services.engineAddress : null;
  const observed = { ...routing, latest: { answer: { evaluatorModelId: null, wire } } };
  const router = new MessageRouter({ ...observed, instance, observers });
  const app = new Hono<ClientEnv>();
  app.use(requestId(), accessLog(metrics, parts.accessLog ?? null));
  addGuards(app, parts);
  addFailureRoutes(app, { redact: services.redact, reportDefect });
  for (const path of ["/chat", "/decide", "/v1/chat/completions"]) {
    if (services.tracing !== null) app.use(path, traced(services.tracing));
  }
  addChatRoutes(app, { router, guards, reportDefect });
  addOpenAiRoutes(app, { ...parts, router, guards });
  addStatusRoutes(app, { ...parts, routing: observed, instance, guards, metrics });
  return app;
}
