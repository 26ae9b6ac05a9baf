import type { Call } from "./call.ts";

/** The key of an authorization header `Bearer <key>`, or null. */
export function bearerKey({ header }: Call): string | null {
  return /^Bearer (\S+)$/i.exec(header("authorization") ?? "")?.[1] ?? null;
}
