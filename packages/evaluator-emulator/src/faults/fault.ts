import { UsageError } from "evaluator-kit";
import { z } from "zod";
import { type Trap, trapKinds } from "../call.ts";
import { describeIssue } from "../json.ts";

const condition = {
  path: z.string().startsWith("/").optional(),
  next: z.int().min(1).optional(),
  rate: z.number().gt(0).max(1).optional(),
};
const statusSchema = z.int().min(300).max(599);

const silentKinds = ["hang", "reset"] as const;
const bodyKinds = ["reset-body", "cut-body", "malformed-json"] as const;
const answerKinds = ["wrong-sums", "missing-answer", "refusal"] as const;

/** One fault as it is asked for; `retryAfter` is in seconds, `jitterMs` is the most that is added. */
const faultSchema = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({
      kind: z.literal("status"),
      status: statusSchema,
      retryAfter: z.int().min(0).optional(),
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("latency"),
      latencyMs: z.int().min(0).max(600_000),
      jitterMs: z.int().min(0).max(600_000).optional(),
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("html"),
      status: statusSchema.or(z.literal(200)).optional(),
      ...condition,
    }),
    z.strictObject({ kind: z.enum(silentKinds), ...condition }),
    z.strictObject({ kind: z.enum(bodyKinds), ...condition }),
    z.strictObject({ kind: z.enum(answerKinds), ...condition }),
    z.strictObject({ kind: z.enum(trapKinds), ...condition }),
  ],
  {
    error: `expected a kind: ${["status", "latency", "html", ...silentKinds, ...bodyKinds, ...answerKinds, ...trapKinds].join(", ")}`,
  },
);

/** A list of faults as it is asked for. */
const faultsSchema = z.array(faultSchema);

/**
 * Something that goes wrong on purpose. It holds for calls to `path` (a trailing `*` stands for any
 * rest; every path without it), for the `next` so many of them, and for a `rate` of them, 0..1.
 */
export type Fault = z.infer<typeof faultSchema>;

/** A fault that only slows a call down. */
export type Latency = Extract<Fault, { kind: "latency" }>;

/** A fault that leaves a call without a response. */
export type SilentFault = Extract<Fault, { kind: (typeof silentKinds)[number] }>;

/** A fault that spoils the answers of an evaluation. */
export type AnswerFault = Extract<Fault, { kind: (typeof answerKinds)[number] }>;

/** A fault of a chat server's log-probabilities. */
type TrapFault = Extract<Fault, { kind: Trap }>;

/** Returns whether a fault is about log-probabilities. */
export function isTrapFault(fault: Fault): fault is TrapFault {
  return trapKinds.some((kind) => kind === fault.kind);
}

/** Returns whether a fault leaves a call without a response. */
export function isSilentFault(fault: Fault): fault is SilentFault {
  return silentKinds.some((kind) => kind === fault.kind);
}

/** Returns whether a fault needs the answers of an evaluation. */
export function isAnswerFault(fault: Fault): fault is AnswerFault {
  return answerKinds.some((kind) => kind === fault.kind);
}

/**
 * Checks faults that came from outside.
 *
 * @throws {RangeError} names the fault and the field.
 */
export function checkFaults(faults: unknown): Fault[] {
  const { data, error } = faultsSchema.safeParse(faults);
  if (error !== undefined) throw new RangeError(describeIssue(error, "fault"));
  return data;
}

/** What the value right behind a kind means, as in `status=429`. */
const fieldOfKind: Readonly<Record<string, string>> = {
  status: "status",
  html: "status",
  latency: "latencyMs",
};

/** Where a word of the command line has another name than its field. */
const fieldNames: Readonly<Record<string, string>> = { jitter: "jitterMs" };

/**
 * Reads a fault from the command line: `KIND[=VALUE][,retry-after=S][,jitter=MS][,next=N][,rate=R][,path=P]`.
 *
 * @throws UsageError that names what is wrong with it.
 */
export function parseFault(text: string): Fault {
  const [[kind, value], ...parts] = splitParts(text);
  const fields = parts.map(([name, value]) => [
    fieldNames[name] ?? toCamelCase(name),
    readValue(name, value),
  ]);
  const own = value === undefined ? [] : [[fieldOfKind[kind] ?? "value", readValue(kind, value)]];
  try {
    const [fault] = checkFaults([{ kind, ...Object.fromEntries([...own, ...fields]) }]);
    if (fault !== undefined) return fault;
  } catch (error) {
    throw new UsageError(`--fault ${text}: ${reasonOf(error)}`, { cause: error });
  }
  throw new UsageError(`--fault ${text}: expected a fault`);
}

function splitParts(text: string): [[string, string?], ...[string, string?][]] {
  const [kind = [""], ...parts] = text.split(",").map((part) => part.split(/=(.*)/s, 2));
  return [kind, ...parts] as [[string, string?], ...[string, string?][]];
}

function readValue(name: string, value = ""): string | number {
  return name === "path" || value.trim() === "" ? value : Number(value);
}

function toCamelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^fault 1(?:, |: )/, "") : "is not a fault";
}
