import * as z from "zod/mini";
import { trapKinds } from "../call.ts";
import { describeIssue } from "../json.ts";

const condition = {
  path: z.optional(z.string().check(z.startsWith("/"))),
  next: z.optional(z.int().check(z.minimum(1))),
  rate: z.optional(z.number().check(z.gt(0), z.maximum(1))),
};
const statusSchema = z.int().check(z.minimum(300), z.maximum(599));
const milliseconds = z.int().check(z.minimum(0), z.maximum(600_000));

const deliveryKinds = ["hang", "reset", "reset-body", "cut-body", "malformed-json"] as const;
const answerKinds = [
  "wrong-sums",
  "missing-answer",
  "refusal",
  "first-refusal",
  "cut-state",
  "answers-only",
] as const;
const plainKinds = ["exhausted-quota", ...deliveryKinds, ...answerKinds, ...trapKinds] as const;

const faultSchema = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({
      kind: z.literal("status"),
      status: statusSchema,
      /** In seconds. */
      retryAfter: z.optional(z.int().check(z.minimum(0))),
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("latency"),
      latencyMs: milliseconds,
      /** The most that is added. */
      jitterMs: z.optional(milliseconds),
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("html"),
      status: z.optional(z.union([statusSchema, z.literal(200)])),
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
