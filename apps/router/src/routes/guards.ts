import { networkInterfaces } from "node:os";
import { isLoopbackHost, toHostname } from "evaluator-kit";
import type { Hono, MiddlewareHandler } from "hono";
import { turn } from "../reply/attempt.ts";
import type { openLiveKeys } from "../keys/key-store.ts";
import type { MinuteLimits } from "../keys/minute-limits.ts";
import type { RouterOptions } from "../router-options.ts";
import { sameOriginOnly, withCors } from "./allowed-origins.ts";
import type { ClientEnv } from "./client-request.ts";
import { jsonBody } from "./json-body.ts";
import { requireKey } from "./require-key.ts";
import { HttpError } from "../http-error.ts";
import { pageHeaders, reportHeaders } from "./security-headers.ts";

interface GuardParts {
  readonly page: Parameters<typeof pageHeaders>[0];
  /** The addresses of the router. */
  readonly hosts: ReadonlySet<string>;
  readonly options: Parameters<typeof sameOriginOnly>[0]["options"] &
    Pick<RouterOptions, "accessToken" | "maxCallsInFlight">;
  /** The named keys. @default null */
  readonly keys?: Pick<Awaited<ReturnType<typeof openLiveKeys>>, "current"> | null;
  readonly minuteLimits?: MinuteLimits | undefined;
  readonly reportDefect: (error: Error) => void;
  /** Messages wait until this resolves. */
  readonly pricesTried?: Promise<void>;
}

/** Adds the guards of every request: hosts, origins, keys and headers. Returns those of JSON bodies. */
export function addGuards(app: Hono<ClientEnv>, guardParts: GuardParts) {
  const { page, options, reportDefect } = guardParts;
  app.use(setContext(reportDefect));
  for (const reportPath of ["/decisions/*", "/spend"]) app.use(reportPath, reportHeaders);
  app.use(pageHeaders(page));
  app.use(sameOriginOnly(guardParts));
  if (options.allowedOrigins.length > 0) app.use("/v1/*", withCors);
  if (options.accessToken !== null || guardParts.keys) app.use(requireKey(guardParts));
  return createRouteGuards(guardParts);
}

/**
 * Sets the context, and answers a client that is gone. The body limit replaces the request with a copy,
 * whose signal may be collected as garbage before it aborts, so the client's own signal is kept.
 */
function setContext(reportDefect: GuardParts["reportDefect"]): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const { signal } = c.req.raw;
    c.set("clientSignal", signal);
    c.set("key", null);
    c.set("budget", null);
    c.set("reportDefect", reportDefect);
    try {
      return await next();
    } catch (thrownReason) {
      if (signal.aborted) return new Response(null, { status: 499 }); // the reason may be no error
      throw thrownReason;
    }
  };
}

/** Returns the allowed `Host` values; another may be a foreign page's name of this machine (DNS rebinding). */
export function allowedHosts(listenedHost: string, port: number, names: readonly string[] = []) {
  const interfaces = Object.values(networkInterfaces()).flatMap((addressList) => addressList ?? []);
  const reachable = isLoopbackHost(listenedHost) ? [] : interfaces.map(({ address }) => address);
  const own = ["localhost", "127.0.0.1", "[::1]", ...[listenedHost, ...reachable].map(toHostname)];
  const withPort = [...own, ...names].map((hostName) => `${hostName}:${port}`);
  return new Set<string>(port === 80 ? [...own, ...withPort, ...names] : [...withPort, ...names]); // browsers omit :80
}

const MAX_BODY_BYTES = 1024 * 1024;

/** The largest conversation, which may hold images, audio and files, in bytes. */
const MAX_CONVERSATION_BYTES = 16 * 1024 * 1024;

/** The guards of the routes with a JSON body. */
export type Guards = ReturnType<typeof addGuards>;

/** At most `maxCallsInFlight` ask a model at once, and each key asks as often as it may. */
function createRouteGuards({ options, pricesTried, minuteLimits }: GuardParts) {
  const heldSlots = new Set<ClientEnv["Variables"]["slot"]>();
  const limitedCalls: MiddlewareHandler<ClientEnv> = async (c, next) => {
    const routerKey = c.get("key");
    if (routerKey !== null) minuteLimits?.take(routerKey, (name, value) => c.header(name, value));
    if (heldSlots.size >= options.maxCallsInFlight) {
      const busyMessage = "The router is busy with other messages; try again in a moment.";
      throw new HttpError(503, busyMessage, { retryAfter: "1" });
    }
    const callSlot = { isHeld: false, release: () => void heldSlots.delete(callSlot) };
    heldSlots.add(callSlot);
    c.set("slot", callSlot);
    try {
      await pricesTried; // so that the costs of the message are known
      await turn();
      return await next();
    } finally {
      if (!callSlot.isHeld) callSlot.release(); // an abort's reason may be thrown past every handler
    }
  };
  const [shortBody, largeBody] = [jsonBody(MAX_BODY_BYTES), jsonBody(MAX_CONVERSATION_BYTES)];
  return {
    /** For a little JSON, without a call of a model. */
    body: [shortBody],
    message: [shortBody, limitedCalls],
    largeBody: [largeBody],
    /** In this order, since a body of unknown size is buffered. */
    conversation: [limitedCalls, largeBody],
    callsInFlight: () => heldSlots.size,
  } as const;
}
