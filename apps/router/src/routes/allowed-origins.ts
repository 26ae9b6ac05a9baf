import type { HonoRequest, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { HttpError } from "../http-error.ts";
import type { RouterOptions } from "../router-options.ts";

const foreignPage =
  "This router answers to its own page only; ROUTER_ALLOWED_ORIGINS adds an app's pages.";

/** Returns whether a page's origin is one of the given ones; `scheme://*` is every host of a scheme. */
function allowedBy(origins: readonly string[]): (origin: string) => boolean {
  const knownNames = new Set(origins);
  return (origin) => {
    const lower = origin.toLowerCase();
    return knownNames.has(lower) || knownNames.has(lower.replace(/:\/\/.*$/, "://*"));
  };
}

/** Lets a page read answers. It has no credentials but its key, so that no browser adds a password. */
export const withCors = cors({ origin: (page) => page, exposeHeaders: ["*"] });

interface OwnAddresses {
  readonly hosts: ReadonlySet<string>;
  readonly options: Pick<RouterOptions, "allowedNames" | "allowedOrigins">;
}

/** Rejects foreign hosts and requests of pages that are not allowed; these may only link to the page at `/`. */
export function sameOriginOnly({ hosts, options }: OwnAddresses): MiddlewareHandler {
  const origins = new Set([...hosts].map((host) => `http://${host}`));
  for (const host of options.allowedNames) origins.add(`https://${host}`);
  const isAllowed = allowedBy(options.allowedOrigins);
  return async ({ req }, next) => {
    const origin = req.header("origin");
    const site = req.header("sec-fetch-site") ?? "none";
    // The request line may hold a whole address that differs from the header.
    if (!hosts.has(req.header("host")?.toLowerCase() ?? "") || !hosts.has(new URL(req.url).host)) {
      const error =
        "This router answers to its own address only; ROUTER_ALLOWED_HOSTS adds a proxy's host.";
      throw new HttpError(403, error);
    }
    if (origin !== undefined && req.path.startsWith("/v1/") && isAllowed(origin)) return next();
    if (origin !== undefined && !origins.has(origin)) {
      throw new HttpError(403, foreignPage);
    }
    if (site !== "same-origin" && site !== "none" && !isLinkToPage(req)) {
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
