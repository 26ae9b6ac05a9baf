import { hash, timingSafeEqual } from "node:crypto";
import { CliError, printable } from "evaluator-kit";
import { findNodeAtLocation, type ParseError, parseTree } from "jsonc-parser";
import { z } from "zod";
import { tierNames } from "../decision/tier-question.ts";

const name = z
  .string("is missing, or no text")
  .regex(/^[\w.-]{1,64}$/, "is not a name of up to 64 letters, digits and the signs . _ -");
const dollars = optional(z.number("is not a number of US dollars").min(0, "is below 0"));
const perMinute = optional(z.int("is not a whole number").min(1, "is below 1"));
const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })], "is no date: 2027-01-31");

/** Names that the router itself uses in the log and the metrics. */
const reservedNames = new Set(["owner", "other", "blind"]);

/** A key as it is kept. The message of an issue continues after the path of its field. */
export const storedKeySchema = z.strictObject(
  {
    name: name.refine((each) => !reservedNames.has(each), "is a name that the router itself uses"),
    /** The budget that its calls spend, which other keys may share. */
    budget: name,
    /** The tiers and models that it may use; null for all. */
    tiers: optional(listOf(z.enum(tierNames, `is none of ${tierNames.join(", ")}`))),
    models: optional(listOf(z.string().regex(/^[!-~]{1,256}$/, "is not a model id"))),
    requestsPerMinute: perMinute,
    tokensPerMinute: perMinute,
    /** The limits of its budget in US dollars; null for none. Days and months are UTC. */
    usdPerDay: dollars,
    usdPerMonth: dollars,
    /** The first instant at which it is not valid any more, in ISO 8601; null for never. */
    expires: optional(time),
    /** The SHA-256 of its token, in hexadecimal. */
    sha256: z.string("is missing, or no text").regex(/^[0-9a-f]{64}$/, "is not a SHA-256"),
  },
  { error: ({ code }) => (code === "unrecognized_keys" ? "has an unknown field" : "is no object") },
);

/** A key as it is kept, with the hash of its token. */
export type StoredKey = Readonly<z.infer<typeof storedKeySchema>>;

/** A named key: who may ask for what, until when. */
export type RouterKey = Omit<StoredKey, "sha256">;

/** Returns the key of `ROUTER_ACCESS_TOKEN`, without limits. */
export function ownerOf(token: string): StoredKey {
  const key = storedKeySchema.parse({ name: "_", budget: "owner", sha256: hashOf(token) });
  return { ...key, name: "owner" };
}

/** Returns the hash that is kept of a token. */
export function hashOf(token: string): string {
  return hash("sha256", token);
}

/** Returns the valid key of one of the tokens; null for none. Compares in constant time. */
export function findKey(
  keys: readonly StoredKey[],
  tokens: readonly string[],
  nowMs: number,
): RouterKey | null {
  const given = tokens.map((token) => Buffer.from(hashOf(token))); // of one length
  const isGiven = ({ sha256 }: StoredKey) =>
    given.filter((each) => timingSafeEqual(each, Buffer.from(sha256))).length > 0;
  const valid = keys
    .filter(isGiven)
    .find(({ expires }) => expires === null || nowMs < Date.parse(expires));
  return valid === undefined ? null : withoutHash(valid);
}

/** Returns a key for the eyes of others. */
export function withoutHash({ sha256: _sha256, ...key }: StoredKey): RouterKey {
  return key;
}

const listSchema = z
  .array(storedKeySchema, "is not a list of keys")
  .superRefine((keys, context) => {
    const names = keys.map((key) => key.name);
    const again = names.findIndex((each, at) => names.indexOf(each) < at);
    const path = [again, "name"];
    if (again !== -1) context.addIssue({ code: "custom", message: "is there twice", path });
  });

/** Parses the text of a store. @throws CliError with the store, the line and the field, without a value. */
export function parseKeys(text: string, store: string): readonly StoredKey[] {
  const fail = (offset: number, problem: string): never => {
    const line = text.slice(0, offset).split("\n").length;
    throw new CliError(printable`${store}:${String(line)} ${problem}.`);
  };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowEmptyContent: false });
  if (root === undefined || errors[0] !== undefined) return fail(errors[0]?.offset ?? 0, "no JSON");
  const { data, error } = listSchema.safeParse(JSON.parse(text));
  if (data !== undefined) return data;
  const path = (error.issues[0]?.path ?? []) as (string | number)[];
  const node = findNodeAtLocation(root, path) ?? findNodeAtLocation(root, path.slice(0, 1)) ?? root;
  return fail(node.offset, `${z.core.toDotPath(path)} ${error.issues[0]?.message}`.trim());
}

/** Returns the text of a store, which {@link parseKeys} reads. */
export function printKeys(keys: readonly StoredKey[]): string {
  return `${JSON.stringify(keys, (_, value: unknown) => value ?? undefined, 2)}\n`;
}

function optional<TSchema extends z.ZodType>(schema: TSchema) {
  return schema.nullable().default(null);
}

function listOf<TSchema extends z.ZodType>(word: TSchema) {
  const error = "is not a list of at least one word";
  return z.array(word, error).min(1, error);
}
