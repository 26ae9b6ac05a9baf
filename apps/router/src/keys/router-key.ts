import { hash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { oneOf, orNull, shortName } from "../config/fields.ts";
import { tierNames } from "../decision/tier-question.ts";

/** Names that the router itself uses in the log and the metrics. */
const reservedNames = new Set(["owner", "other", "blind"]);

const notDate = "is not a date, such as 2027-01-31";
const limit = orNull(z.number().min(0));

/** The form of a key in `ROUTER_KEYS`. */
export const storedKeySchema = z.strictObject({
  name: shortName.refine(
    (each) => !reservedNames.has(each),
    "is a name that the router itself uses",
  ),
  /** The budget that its calls spend, which other keys may share. */
  budget: shortName,
  /** The tiers and models that it may use; null for all. */
  tiers: orNull(z.array(oneOf(tierNames)).min(1)),
  models: orNull(z.array(z.string().regex(/^[!-~]{1,256}$/)).min(1)),
  /** False if it may not ask decision models its own questions. */
  decisions: orNull(z.literal(false)),
  requestsPerMinute: limit,
  tokensPerMinute: limit,
  /** The limits of its budget in US dollars; null for none. Days and months are UTC. */
  usdPerDay: limit,
  usdPerMonth: limit,
  /** The first instant at which it is not valid any more, in ISO 8601; null for never. */
  expires: orNull(z.union([z.iso.date(), z.iso.datetime({ offset: true })], notDate)),
  /** The SHA-256 of its token, in hexadecimal. */
  sha256: z.hash("sha256"),
});

/** A key in `ROUTER_KEYS`, with the hash of its token. */
export type StoredKey = Readonly<z.infer<typeof storedKeySchema>>;

/** A named key: who may ask for what, until when. */
export type RouterKey = Omit<StoredKey, "sha256">;

/** Returns the hash that is kept of a token. */
export function toHash(token: string): string {
  return hash("sha256", token);
}

/** Returns whether a key is valid at an instant; a date that cannot be read is past. */
export function isValidAt(nowMs: number, { expires }: Pick<StoredKey, "expires">): boolean {
  return expires === null || nowMs < Date.parse(expires);
}

/** Returns the valid key of one of the tokens; null for none. Compares in constant time. */
export function findKey(keys: readonly StoredKey[], tokens: readonly string[], nowMs: number) {
  const tokenHashes = tokens.map((token) => Buffer.from(toHash(token))); // of one length
  const matchingKeys = keys.filter(
    ({ sha256 }) =>
      tokenHashes.filter((each) => timingSafeEqual(each, Buffer.from(sha256))).length > 0,
  );
  const valid = matchingKeys.find((key) => isValidAt(nowMs, key));
  return valid === undefined ? null : withoutHash(valid);
}

/** Returns a key for the eyes of others. */
export function withoutHash({ sha256: _sha256, ...key }: StoredKey): RouterKey {
  return key;
}
