import { cors } from "hono/cors";

/** The message for a page that may not call. */
export const foreignPage =
  "This router answers to its own page only; ROUTER_ALLOWED_ORIGINS adds an app's pages.";

/** Returns whether a page's origin is one of the given ones; `scheme://*` is every host of a scheme. */
export function allowedBy(origins: readonly string[]): (origin: string) => boolean {
  const known = new Set(origins);
  return (origin) => {
    const lower = origin.toLowerCase();
    return known.has(lower) || known.has(lower.replace(/:\/\/.*$/, "://*"));
  };
}

/** Lets a page read answers. It has no credentials but its key, so that no browser adds a password. */
export const withCors = cors({ origin: (page) => page, exposeHeaders: ["*"] });
