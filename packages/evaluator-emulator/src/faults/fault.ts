import { UsageError } from "evaluator-kit";
import { z } from "zod";
import { trapKinds } from "../call.ts";
import { describeIssue } from "../json.ts";

const condition = {
  path: z.string().startsWith("/").optional(),
  next: z.int().min(1).optional(),
  rate: z.number().gt(0).max(1).optional(),
};
const statusSchema = z.int().min(300).max(599);
const milliseconds = z.int().min(0).max(600_000);

const deliveryKinds = ["hang", "reset", "reset-body", "cut-body", "malformed-json"] as const;
const answerKinds = ["wrong-sums", "missing-answer", "refusal"] as const;
const plainKinds = [...deliveryKinds, ...answerKinds, ...trapKinds] as const;

const faultSchema = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({
      kind: z.literal("status"),
      status: statusSchema,
      /** In seconds. */
      retryAfter: z.int().min(0).optional(),
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("latency"),
      latencyMs: milliseconds,
      /** The most that is added. */
      jitterMs: milliseconds.optional(),
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("html"),
      status: statusSchema.or(z.literal(200)).optional(),
      ...condition,
    }),
    z.strictObject({ kind: z.enum(plainKinds), ...condition }),
  ],
  { error: `expected a kind: ${["status", "latency", "html", ...plainKinds].join(", ")}` },
);

const faultsSchema = z.array(faultSchema);

/**
 * A fault that is played on purpose, on calls to `path` (a trailing `*` matches any rest; every path
 * without it), on the `next` so many of them, and on a `rate` of them, 0..1.
 */
export type Fault = z.infer<typeof faultSchema>;

/** Checks faults of a caller. @throws {RangeError} names the fault and the field. */
export function checkFaults(faults: unknown): Fault[] {
  const { data, error } = faultsSchema.safeParse(faults);
  if (error !== undefined) throw new RangeError(describeIssue(error, "fault"));
  return data;
}

/** The field of a value behind a kind, as in `status=429`. */
const fieldOfKind: Readonly<Record<string, string>> = {
  status: "status",
  html: "status",
  latency: "latencyMs",
};

/** Words of the command line that differ from their field. */
const fieldNames: Readonly<Record<string, string>> = { jitter: "jitterMs" };

/**
 * Reads a fault of the command line, `KIND[=VALUE][,NAME=VALUE]...`.
 *
 * @throws UsageError that names the word that is wrong.
 */
export function parseFault(text: string): Fault {
  const split = text.split(",").map((part) => part.split(/=(.*)/s, 2));
  const [[kind, value], ...parts] = split as [[string, string?], ...[string, string?][]];
  const fields = parts.map(([name, given]) => [
    fieldNames[name] ?? toCamelCase(name),
    readValue(name, given),
  ]);
  const own = value === undefined ? [] : [[fieldOfKind[kind] ?? "value", readValue(kind, value)]];
  const fault: unknown = { kind, ...Object.fromEntries([...own, ...fields]) };
  const { data, error } = faultsSchema.safeParse([fault]);
  if (data?.[0] !== undefined) return data[0];
  const reason = error === undefined ? "expected a fault" : describeIssue(error, "fault");
  throw new UsageError(`--fault ${text}: ${reason.replace(/^fault 1(?:, |: )/, "")}`);
}

function readValue(name: string, value = ""): string | number {
  return name === "path" || value.trim() === "" ? value : Number(value);
}

function toCamelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
