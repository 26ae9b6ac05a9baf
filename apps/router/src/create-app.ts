import { type Context, Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { createMessageRouter } from "./chat/message-router.ts";
import type { Routing } from "./decision/decide.ts";
import { openAiDoor } from "./openai/openai-door.ts";
import { accessLog } from "./operations/access-log.ts";
import { createCallSlots } from "./operations/call-slots.ts";
import { createMetrics } from "./operations/metrics.ts";
import type { Page } from "./page/page.ts";
import type { MessageRecord, Observe } from "./records/message-record.ts";
import { afterPrices } from "./routes/after-prices.ts";
import { chatRoute } from "./routes/chat-route.ts";
import type { ClientEnv } from "./routes/client-env.ts";
import { keepClientSignal } from "./routes/client-signal.ts";
import { decideRoute } from "./routes/decide-route.ts";
import { failureRoute } from "./routes/failure-route.ts";
import { healthRoute, readyRoute } from "./routes/health-routes.ts";
import { jsonOnly } from "./routes/json-only.ts";
import { limitedBody } from "./routes/limited-body.ts";
import { limitedCalls } from "./routes/limited-calls.ts";
import { metricsRoute } from "./routes/metrics-route.ts";
import { pageRoute } from "./routes/page-route.ts";
import { Refusal } from "./routes/refusal.ts";
import { sendRefusal } from "./routes/send-refusal.ts";
import { requireToken } from "./security/require-token.ts";
import { type OwnAddresses, sameOriginOnly } from "./security/same-origin-only.ts";
import { securityHeaders } from "./security/security-headers.ts";

/** What the application is made of. */
export interface AppParts extends OwnAddresses {
  readonly page: Page;
  readonly routing: Routing;
  /** Is told of an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
  /** What a client must show, or null. @default null */
  readonly accessToken?: string | null;
  /** Calls that ask a model at once, at most. @default 64 */
  readonly maxCallsInFlight?: number;
  /** Is told what happened to each message. */
  readonly observe?: Observe;
  /** Records that the decision log dropped. @default there is no log */
  readonly logDropped?: () => number;
  /** Prints one line for each response. */
  readonly writeAccess?: (line: string) => void;
  /** Messages wait for it. @default nothing */
  readonly pricesTried?: Promise<void>;
  /** Whether the router takes no new messages. @default never */
  readonly isStopping?: () => boolean;
}

/** The router as a web application: every door, and what every request passes first. */
export function createApp(parts: AppParts): Hono<ClientEnv> {
  const { page, routing, reportDefect, accessToken = null, logDropped = null } = parts;
  const { redact } = routing.services;
  const slots = createCallSlots(parts.maxCallsInFlight ?? 64);
  const metrics = createMetrics({ callsInFlight: slots.inUse, logDropped });
  const observe = (record: MessageRecord) => {
    metrics.observe(record);
    parts.observe?.(record);
  };
  const router = createMessageRouter({ ...routing, observe });
  const app = new Hono<ClientEnv>();
  app.use(requestId(), accessLog({ metrics, write: parts.writeAccess ?? null }));
  app.use(keepClientSignal, securityHeaders(page), sameOriginOnly(parts));
  if (accessToken !== null) app.use(requireToken(accessToken));
  app.use(methodNotAllowed({ app, onMethodNotAllowed: refuseMethod }));
  const { pricesTried = Promise.resolve() } = parts;
  const asksModel = [jsonOnly, limitedBody, limitedCalls(slots), afterPrices(pricesTried)] as const;
  app.get("/", pageRoute(page));
  app.post("/chat", ...asksModel, chatRoute(router, reportDefect));
  app.post("/decide", ...asksModel, decideRoute(router));
  app.route("/v1", openAiDoor({ router, asksModel, reportDefect }));
  app.get("/healthz", healthRoute);
  app.get("/readyz", readyRoute({ isStopping: parts.isStopping ?? (() => false), logDropped }));
  app.get("/metrics", metricsRoute(metrics));
  app.notFound((c) => sendRefusal(c, c.req.path.startsWith("/v1/") ? noSuchApi : nothingHere));
  app.onError(failureRoute({ redact, reportDefect }));
  return app;
}

const noSuchApi = new Refusal(
  404,
  "There is no such path in this API; use GET /v1/models or POST /v1/chat/completions.",
);
const nothingHere = new Refusal(404, "There is nothing here; the page is at /.");

function refuseMethod(_c: Context, methods: readonly string[]): never {
  const headers = { Allow: methods.join(", ") };
  throw new Refusal(405, `Use ${methods.join(" or ")} here.`, { headers });
}
