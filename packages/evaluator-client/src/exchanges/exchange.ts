import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import * as z from "zod/mini";

/** Returns whether a header, by its lower-case name, may carry a key, a password or a session. */
export function isSecretHeader(name: string): boolean {
  // Not "tokens", which are counts, as in x-ratelimit-remaining-tokens.
  const isSecret = /auth|cookie|key|token(?!s)|secret|passw|pwd|credential|session/.test(name);
  return isSecret && name !== "ai-gateway-auth-method";
}

const headersSchema = z.record(
  z.string().check(
    z.regex(/^[a-z0-9-]+$/),
    z.refine((name) => !isSecretHeader(name)),
  ),
  z.string(),
  {
    error: (issue) =>
      issue.code === "invalid_key"
        ? "expected a lower-case header name that never carries a key"
        : undefined,
  },
);

const someText = z.string().check(z.minLength(1));
// Where an exchange comes from: written from the contract, or recorded from a live service.
const provenanceSchema = z.discriminatedUnion("source", [
  z.strictObject({ source: z.literal("contract"), section: someText }),
  z.strictObject({
    source: z.literal("live"),
    recordedAt: z.iso.date(),
    model: someText,
  }),
]);

// What was parsed from JSON is not looked through again, which is half the work of reading a file.
const parsedJson = z.custom<z.core.util.JSONType>((value) => value !== undefined, {
  error: "expected JSON",
});

/** One exchange file: a request, the response to it, and where both come from. */
const exchangeSchema = z.strictObject({
  description: someText,
  provenance: provenanceSchema,
  request: z.strictObject({
    method: z.enum(["GET", "POST"]),
    path: z.string().check(z.startsWith("/")),
    headers: headersSchema,
    body: z.optional(parsedJson),
  }),
  response: z.strictObject({
    status: z.int().check(z.gte(200), z.lte(599)),
    headers: headersSchema,
    body: parsedJson,
  }),
});

/** One exchange and its name: the file's path in its folder without `.json`. */
export type Exchange = z.infer<typeof exchangeSchema> & { name: string };

/**
 * Reads every exchange file of a folder and its subfolders, sorted by name.
 *
 * @throws {Error} Names the file and the field that is not as the schema says.
 */
export function loadExchanges(folder: string): Exchange[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".json"))
    .map((path) => path.slice(0, -".json".length).split(sep).join("/"))
    .toSorted()
    .map((name) => readExchange(folder, name));
}

function readExchange(folder: string, name: string): Exchange {
  const file = join(folder, `${name}.json`);
  const { data, error } = exchangeSchema.safeParse(parseJson(readFileSync(file, "utf8"), file));
  if (data !== undefined) return { name, ...data };
  const [issue] = error.issues;
  throw new Error(`${file} is not an exchange: ${issue?.path.join(".")}: ${issue?.message}`);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON.`);
  }
}
