import { createHash, timingSafeEqual } from "node:crypto";
import type { HonoRequest, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HttpError } from "../http-error.ts";
import { type AnsweredHosts, ownOrigins } from "../security/own-addresses.ts";
import type { ClientEnv, Slot } from "./client-request.ts";

/**
 * Keeps the client's own signal, and answers nobody when the client is gone. The body limit puts a
 * copy instead of the request, and a copy's signal may be collected as garbage before it aborts.
 */
export const keepClientSignal: MiddlewareHandler<ClientEnv> = async (c, next) => {
  const { signal } = c.req.raw;
  c.set("clientSignal", signal);
  try {
    return await next();
  } catch (reason) {
    if (signal.aborted) return new Response(null, { status: 499 }); // an abort's reason need not be an error
    throw reason;
  }
};

/**
 * Throws for a request that names a foreign host, or that another page makes; only its link may
 * open the page, which changes nothing and which no frame can hold.
 */
export function sameOriginOnly(answered: AnsweredHosts): MiddlewareHandler {
  const { hosts } = answered;
  const origins = ownOrigins(answered);
  return async (c, next) => {
    const problem = originProblem(c.req, hosts, origins);
    if (problem !== null) throw new HttpError(403, problem);
    return next();
  };
}

function originProblem(
  request: HonoRequest,
  hosts: ReadonlySet<string>,
  origins: ReadonlySet<string>,
): string | null {
  const host = request.header("host")?.toLowerCase() ?? "";
  const origin = request.header("origin");
  const site = request.header("sec-fetch-site") ?? "none";
  // A request line may hold a whole address, which then differs from the header.
  if (!hosts.has(host) || !hosts.has(new URL(request.url).host)) {
    return "This router answers to its own address only.";
  }
  if (origin !== undefined && !origins.has(origin)) {
    return "This router answers to its own page only.";
  }
  if (site === "same-origin" || site === "none" || isLinkToPage(request)) return null;
  return "Open this router's address directly; other sites may not.";
}

function isLinkToPage(request: HonoRequest): boolean {
  const opensTab =
    request.header("sec-fetch-mode") === "navigate" &&
    request.header("sec-fetch-dest") === "document";
  return opensTab && request.method === "GET" && request.path === "/";
}

const openPaths = new Set(["/healthz", "/readyz"]);

/**
 * Asks for the access token, as a bearer token or as the password of any user name, which is how
 * a browser asks a person for it. Health checks need none.
 */
export function requireToken(token: string): MiddlewareHandler {
  const expected = digestOf(token);
  return async (c, next) => {
    if (openPaths.has(c.req.path)) return next();
    const given = tokenOf(c.req.header("authorization") ?? "");
    if (timingSafeEqual(digestOf(given), expected)) return next();
    const error = "This router asks for its access token: Authorization: Bearer <token>.";
    const headers = { "WWW-Authenticate": 'Basic realm="router", charset="UTF-8"' };
    throw new HttpError(401, error, { headers });
  };
}

function tokenOf(authorization: string): string {
  const [scheme = "", value = ""] = authorization.split(" ", 2);
  if (scheme.toLowerCase() === "bearer") return value;
  if (scheme.toLowerCase() !== "basic") return "";
  return Buffer.from(value, "base64")
    .toString("utf8")
    .replace(/^[^:]*:/, "");
}

/** Digests are of one length, which is what a comparison in constant time needs. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** What every request that asks a model passes, in this order. */
export type AskingGuards = readonly [
  MiddlewareHandler,
  MiddlewareHandler,
  MiddlewareHandler<ClientEnv>,
  MiddlewareHandler,
];

/** Returns the middleware that every request for a model passes. */
export function askingGuards(
  slots: CallSlots,
  pricesTried: Promise<void>,
  maxBodyBytes = MAX_BODY_BYTES,
): AskingGuards {
  return [jsonOnly, limitedBody(maxBodyBytes), limitedCalls(slots), afterPrices(pricesTried)];
}

/** Throws for a body that does not say it is JSON; a form of a foreign page cannot say so. */
const jsonOnly: MiddlewareHandler = async (c, next) => {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() === "application/json") return next();
  throw new HttpError(415, "Send JSON with the header Content-Type: application/json.");
};

/** The largest request body, in bytes: 1 MiB. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The largest conversation, which may hold images, audio and files, in bytes: 16 MiB. */
export const MAX_CONVERSATION_BYTES = 16 * 1024 * 1024;

/**
 * Throws for a larger body. One that does not say its length is collected before it has a slot among
 * the calls, so it may not be as large.
 */
function limitedBody(maxSize: number): MiddlewareHandler {
  const known = sizeLimit(maxSize);
  const unknown = sizeLimit(MAX_BODY_BYTES);
  return (c, next) =>
    c.req.header("content-length") === undefined ? unknown(c, next) : known(c, next);
}

function sizeLimit(maxSize: number): MiddlewareHandler {
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new HttpError(413, `The body is over ${maxSize} bytes; send less.`);
    },
  });
}

/** What a request passes that sends a little JSON and asks no model. */
export const shortBody = [jsonOnly, limitedBody(MAX_BODY_BYTES)] as const;

/** Throws a 503 when too many calls are in flight, which says when to come back. */
function limitedCalls(slots: CallSlots): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const slot = slots.take();
    if (slot === null) {
      const error = "The router is busy with other messages; try again in a moment.";
      throw new HttpError(503, error, { headers: { "Retry-After": "1" } });
    }
    c.set("slot", slot);
    try {
      return await next();
    } finally {
      if (!slot.isHeld()) slot.release(); // an abort's reason may be thrown past every handler
    }
  };
}

/** Lets a message wait until the price list was tried, so that its costs are known if they can be. */
function afterPrices(pricesTried: Promise<void>): MiddlewareHandler {
  return async (_c, next) => {
    await pricesTried;
    return next();
  };
}

/** A semaphore for calls that ask a model. */
type CallSlots = ReturnType<typeof createCallSlots>;

/** Returns a semaphore for at most `max` calls at once. */
export function createCallSlots(max: number) {
  const taken = new Set<Slot>();
  return {
    inUse: () => taken.size,
    /** Returns a slot, or null when all are taken. */
    take() {
      if (taken.size >= max) return null;
      let isHeld = false;
      const slot: Slot = {
        hold: () => (isHeld = true),
        isHeld: () => isHeld,
        release: () => taken.delete(slot),
      };
      taken.add(slot);
      return slot;
    },
  };
}
