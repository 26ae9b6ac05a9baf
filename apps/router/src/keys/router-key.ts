import { hash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { fields, listOf, oneOf, orNull, shortName } from "../config/fields.ts";
import { tierNames } from "../decision/tier-question.ts";

/** Names that the router itself uses in the log and the metrics. */
const reservedNames = new Set(["owner", "other", "blind"]);

const notDate = "is not a date, such as 2027-01-31";
const notLimit = "is not a number from 0 up; write null for no limit";
const limitSchema = orNull(z.number(notLimit).min(0, notLimit));
const notModel = "is not the name of a model, such as acme/x";
const addKey = "add the key with evaluator-router keys add";
const notHash = `is not a SHA-256 in hexadecimal; ${addKey}`;
const notEmpty = "is an empty list; write null for all";

/** The form of a key in `ROUTER_KEYS`. */
export const storedKeySchema = fields(
  {
    name: shortName.refine(
      (keyName) => !reservedNames.has(keyName),
      "is a name that the router itself uses",
    ),
    /** The budget that its calls spend, which other keys may share. */
    budget: shortName,
    /** The tiers and models that it may use; null for all. */
    tiers: orNull(listOf(oneOf(tierNames)).min(1, notEmpty)),
    models: orNull(listOf(z.string(notModel).regex(/^[!-~]{1,256}$/, notModel)).min(1, notEmpty)),
    /** False if it may not ask decision models its own questions. */
    decisions: orNull(z.literal(false, "is not false; leave it out")),
    requestsPerMinute: limitSchema,
    tokensPerMinute: limitSchema,
    /** The limits of its budget in US dollars; null for none. Days and months are UTC. */
    usdPerDay: limitSchema,
    usdPerMonth: limitSchema,
    /** The first instant at which it is not valid any more, in ISO 8601; null for never. */
    expires: orNull(z.union([z.iso.date(), z.iso.datetime({ offset: true })], notDate)),
    /** The SHA-256 of its token, in hexadecimal. */
    sha256: z.hash("sha256", { error: notHash }),
  },
  addKey,
);

/** A key in `ROUTER_KEYS`, with the hash of its token. */
export type StoredKey = Readonly<z.infer<typeof storedKeySchema>>;

/** A named key: who may ask for what, until when. */
export type RouterKey = Omit<StoredKey, "sha256">;

/** Returns the hash that is kept of a token. */
export function toHash(accessToken: string): string {
  return hash("sha256", accessToken);
}

/** Returns whether a key is valid at an instant; a date that cannot be read is past. */
export function isValidAt(nowMs: number, { expires }: Pick<StoredKey, "expires">): boolean {
  return expires === null || nowMs < Date.parse(expires);
}

/** Returns the valid key of one of the tokens; null for none. Compares in constant time. */
export function findKey(keys: readonly StoredKey[], givenTokens: readonly string[], nowMs: number) {
  const tokenHashes = givenTokens.map((givenToken) => Buffer.from(toHash(givenToken))); // of one length
  const matchingKeys = keys.filter(
    ({ sha256 }) =>
      tokenHashes.filter((tokenHash) => timingSafeEqual(tokenHash, Buffer.from(sha256))).length > 0,
  );
  const validKey = matchingKeys.find((matchingKey) => isValidAt(nowMs, matchingKey));
  return validKey === undefined ? null : withoutHash(validKey);
}

/** Returns a key for the eyes of others. */
export function withoutHash({ sha256: _sha256, ...routerKey }: StoredKey): RouterKey {
  return routerKey;
}
