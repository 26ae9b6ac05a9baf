import type { MiddlewareHandler } from "hono";
import { findKey, toHash, type StoredKey, storedKeySchema } from "../keys/router-key.ts";
import { HttpError } from "../http-error.ts";
import { type ClientEnv, keyHeaders } from "./client-request.ts";
import type { RouterOptions } from "../router-options.ts";

interface KeyParts {
  readonly options: Pick<RouterOptions, "accessToken">;
  readonly keys?: { readonly current: () => readonly StoredKey[] } | null;
}

/** Requires the access token or a key as a bearer token, an API key or a password. */
export function requireKey({ options, keys }: KeyParts): MiddlewareHandler<ClientEnv> {
  const ownerKeys = options.accessToken === null ? [] : [toOwner(options.accessToken)];
  const openPaths = new Set(["/healthz", "/readyz", "/favicon.ico", ...(keys ? ["/"] : [])]);
  return async (c, next) => {
    const { req } = c;
    if (openPaths.has(req.path)) return next();
    const headerTokens = keyHeaders.map((headerName) => req.header(headerName) ?? "");
    const givenTokens = [...headerTokens, toToken(req.header("authorization") ?? "")];
    const clientKey = findKey([...ownerKeys, ...(keys?.current() ?? [])], givenTokens, Date.now());
    c.set("key", clientKey);
    if (clientKey !== null) return next();
    // Claude Code hides a message that names x-api-key, and repeats a 401 for minutes.
    const keyProblem =
      "This router asks for its token or a named key: Authorization: Bearer <token>, or the password in a browser.";
    const headers = { "WWW-Authenticate": 'Basic realm="router", charset="UTF-8"' };
    throw new HttpError(401, keyProblem, { headers, retryAfter: null });
  };
}

/** Returns the key of `ROUTER_ACCESS_TOKEN`, without limits. */
export function toOwner(accessToken: string): StoredKey {
  const ownerKey = { name: "_", budget: "owner", sha256: toHash(accessToken) };
  return { ...storedKeySchema.parse(ownerKey), name: "owner" };
}

/** An authorization may be the token alone, as may a basic one without a user name. */
function toToken(authorization: string): string {
  const [scheme = "", schemeValue] = authorization.trim().split(/\s+/, 2);
  if (schemeValue === undefined) return scheme;
  if (scheme.toLowerCase() === "bearer") return schemeValue;
  if (scheme.toLowerCase() !== "basic") return "";
  return Buffer.from(schemeValue, "base64")
    .toString("utf8")
    .replace(/^[^:]*:/, "");
}
