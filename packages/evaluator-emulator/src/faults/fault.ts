import { z } from "zod";

const condition = {
  path: z.string().startsWith("/").optional(),
  next: z.int().min(1).optional(),
  rate: z.number().gt(0).max(1).optional(),
};
const statusSchema = z.int().min(300).max(599);

const plainKinds = ["hang", "reset", "reset-body", "cut-body", "malformed-json"] as const;
const answerKinds = ["wrong-sums", "missing-answer", "refusal"] as const;

/** One fault as it is asked for; `retryAfter` is in seconds. */
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
      ...condition,
    }),
    z.strictObject({
      kind: z.literal("html"),
      status: statusSchema.or(z.literal(200)).optional(),
      ...condition,
    }),
    z.strictObject({ kind: z.enum(plainKinds), ...condition }),
    z.strictObject({ kind: z.enum(answerKinds), ...condition }),
  ],
  {
    error: `expected a kind: ${["status", "latency", "html", ...plainKinds, ...answerKinds].join(", ")}`,
  },
);

/** A list of faults as it is asked for. */
export const faultsSchema = z.array(faultSchema);

/**
 * Something that goes wrong on purpose. It holds for calls to `path` (a trailing `*` stands for any
 * rest; every path without it), for the `next` so many of them, and for a `rate` of them, 0..1.
 */
export type Fault = z.infer<typeof faultSchema>;

/** A fault that only slows a call down. */
export type Latency = Extract<Fault, { kind: "latency" }>;

/** A fault that spoils the answers of an evaluation. */
export type AnswerFault = Extract<Fault, { kind: (typeof answerKinds)[number] }>;

/** Whether a fault needs the answers of an evaluation. */
export function isAnswerFault(fault: Fault): fault is AnswerFault {
  return answerKinds.some((kind) => kind === fault.kind);
}
