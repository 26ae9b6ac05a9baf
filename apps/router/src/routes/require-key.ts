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
  const owner = options.accessToken === null ? [] : [toOwner(options.accessToken)];
  const open = new Set(["/healthz", "/readyz", "/favicon.ico", ...(keys ? ["/"] : [])]);
  return async (c, next) => {
    const { req } = c;
    if (open.has(req.path)) return next();
    const headerTokens = keyHeaders.map((name) => req.header(name) ?? "");
    const givenTokens = [...headerTokens, toToken(req.header("authorization") ?? "")];
    const key = findKey([...owner, ...(keys?.current() ?? [])], givenTokens, Date.now());
    c.set("key", key);
    if (key !== null) return next();
    // Claude Code hides a message that names x-api-key, and repeats a 401 for minutes.
    const error =
      "This router asks for its token or a named key: Authorization: Bearer <token>, or the password in a browser.";
    const headers = { "WWW-Authenticate": 'Basic realm="router", charset="UTF-8"' };
    throw new HttpError(401, error, { headers, retryAfter: null });
  };
}

/** Returns the key of `ROUTER_ACCESS_TOKEN`, without limits. */
export function toOwner(token: string): StoredKey {
  const key = { name: "_", budget: "owner", sha256: toHash(token) };
  return { ...storedKeySchema.parse(key), name: "owner" };
}

/** An authorization may be the token alone, as may a basic one without a user name. */
function toToken(authorization: string): string {
  const [scheme = "", value] = authorization.trim().split(/\s+/, 2);
  if (value === undefined) return scheme;
  if (scheme.toLowerCase() === "bearer") return value;
  if (scheme.toLowerCase() !== "basic") return "";
  return Buffer.from(value, "base64")
    .toString("utf8")
    .replace(/^[^:]*:/, "");
}
