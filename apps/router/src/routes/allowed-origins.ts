import type { HonoRequest, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { HttpError } from "../http-error.ts";
import type { RouterOptions } from "../router-options.ts";

const foreignPage =
  "This router answers to its own page only; ROUTER_ALLOWED_ORIGINS adds an app's pages.";

/** Returns whether a page's origin is one of the given ones; `scheme://*` is every host of a scheme. */
function allowedBy(allowedOrigins: readonly string[]): (origin: string) => boolean {
  const knownNames = new Set(allowedOrigins);
  return (pageOrigin) => {
    const lowerOrigin = pageOrigin.toLowerCase();
    return knownNames.has(lowerOrigin) || knownNames.has(lowerOrigin.replace(/:\/\/.*$/, "://*"));
  };
}

/** Lets a page read answers. It has no credentials but its key, so that no browser adds a password. */
export const withCors = cors({ origin: (pageOrigin) => pageOrigin, exposeHeaders: ["*"] });

interface OwnAddresses {
  readonly hosts: ReadonlySet<string>;
  readonly options: Pick<RouterOptions, "allowedNames" | "allowedOrigins">;
}

/** Rejects foreign hosts and requests of pages that are not allowed; these may only link to the page at `/`. */
export function sameOriginOnly({ hosts, options }: OwnAddresses): MiddlewareHandler {
  const ownOrigins = new Set([...hosts].map((ownHost) => `http://${ownHost}`));
  for (const allowedHost of options.allowedNames) ownOrigins.add(`https://${allowedHost}`);
  const isAllowed = allowedBy(options.allowedOrigins);
  return async ({ req }, next) => {
    const origin = req.header("origin");
    const fetchSite = req.header("sec-fetch-site") ?? "none";
    // The request line may hold a whole address that differs from the header.
    if (!hosts.has(req.header("host")?.toLowerCase() ?? "") || !hosts.has(new URL(req.url).host)) {
      const hostProblem =
        "This router answers to its own address only; ROUTER_ALLOWED_HOSTS adds a proxy's host.";
      throw new HttpError(403, hostProblem);
    }
    if (origin !== undefined && req.path.startsWith("/v1/") && isAllowed(origin)) return next();
    if (origin !== undefined && !ownOrigins.has(origin)) {
      throw new HttpError(403, foreignPage);
    }
    if (fetchSite !== "same-origin" && fetchSite !== "none" && !isLinkToPage(req)) {
      throw new HttpError(403, "Open this router's address directly; other sites may not.");
    }
    return next();
  };
}

function isLinkToPage(request: HonoRequest): boolean {
  const opensTab =
    request.header("sec-fetch-mode") === "navigate" &&
    request.header("sec-fetch-dest") === "document";
  return opensTab && request.method === "GET" && request.path === "/";
}
