import * as z from "zod";
import { type Fault, faultKinds, faultSchema } from "./fault.ts";

/** Goes up when a plan means something else; plans of other versions are refused. */
export const PLAN_VERSION = 1;

const parts = ["client", "whole"] as const;
const stores = ["memory", "pglite"] as const;

/** A simulation as data. The rest follows from the seed. */
export const planSchema = z.strictObject({
  version: z.literal(PLAN_VERSION),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1),
  part: z.enum(parts),
  store: z.enum(stores),
  /** Virtual minutes with load and faults. */
  minutes: z.number().positive(),
  /** Steady load always has more calls than the limit of the service allows. */
  load: z.enum(["mixed", "steady"]),
  /** Processes that only use the client. */
  clients: z.int().min(0),
  /** Processes that work on a run together. */
  workers: z.int().min(0),
  /** Records of the run, and of the journal's input. */
  records: z.int().min(0),
  service: z.strictObject({
    limit: z.strictObject({ perSecond: z.number(), burst: z.number() }).nullable(),
    latencyMs: z.number(),
  }),
  faults: z.array(faultSchema),
});
export type Plan = z.infer<typeof planSchema>;

/** Returns the limits of the service in requests a second, each from an instant on; none without a limit. */
export function limitsOf({ service: { limit }, faults }: Pick<Plan, "service" | "faults">) {
  if (limit === null) return [];
  const changes = faults.flatMap(({ atMs, ...fault }) =>
    "perSecond" in fault ? { atMs, perSecond: fault.perSecond } : [],
  );
  return [{ atMs: 0, perSecond: limit.perSecond }, ...changes];
}

/** Counts the faults of each kind. */
export function countFaults(faults: readonly Fault[]) {
  const counts = Object.fromEntries(faultKinds.map((kind) => [kind, 0]));
  for (const { kind } of faults) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts as Record<Fault["kind"], number>;
}
