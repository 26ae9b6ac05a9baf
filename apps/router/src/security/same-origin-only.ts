import type { HonoRequest, MiddlewareHandler } from "hono";
import { Refusal } from "../routes/refusal.ts";

/** The addresses a router answers to. */
export interface OwnAddresses {
  /** The `Host` values. */
  readonly hosts: ReadonlySet<string>;
  /** Those of them that a proxy may serve over https. @default none */
  readonly proxiedHosts?: readonly string[];
}

/**
 * Refuses a request that names a foreign host, or that another page makes; only its link may open
 * the page, which changes nothing and which no frame can hold.
 */
export function sameOriginOnly({ hosts, proxiedHosts = [] }: OwnAddresses): MiddlewareHandler {
  const origins = new Set([
    ...[...hosts].map((host) => `http://${host}`),
    ...proxiedHosts.map((host) => `https://${host}`),
  ]);
  return async (c, next) => {
    const problem = problemOf(c.req, hosts, origins);
    if (problem !== null) throw new Refusal(403, problem);
    return next();
  };
}

function problemOf(
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
