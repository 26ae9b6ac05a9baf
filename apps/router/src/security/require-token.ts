import { createHash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { HttpError } from "../http-error.ts";

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
