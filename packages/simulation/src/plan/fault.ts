import * as z from "zod";

const instant = { atMs: z.number().min(0) };
const count = z.int().min(1);
const milliseconds = z.number().min(0);

/** What the service does to the next requests, or for a while. */
const serviceFaultSchema = z.discriminatedUnion("what", [
  z.strictObject({
    ...instant,
    kind: z.literal("service"),
    what: z.literal("status"),
    requests: count,
    status: z.int(),
    /** The wait that it asks for; null for no header. */
    retryAfterMs: milliseconds.nullable(),
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("service"),
    /** The body is cut off, is no JSON, or breaks the contract; the answer is never sent; the connection is lost. */
    what: z.enum(["cut", "garbage", "broken", "hang", "lost-before", "lost-after", "slow"]),
    requests: count,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("service"),
    /** No connection is accepted, or all requests are refused until it ends. */
    what: z.enum(["outage", "limit"]),
    forMs: milliseconds,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("service"),
    /** The limit changes, and stays. */
    what: z.literal("rate"),
    perSecond: z.number().positive(),
  }),
]);

/** Such as "client 0" or "worker 2". */
const processSchema = z.string();

const processFaultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    ...instant,
    kind: z.literal("kill"),
    process: processSchema,
    /** When the process is started again. */
    backAfterMs: milliseconds,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("freeze"),
    process: processSchema,
    forMs: milliseconds,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("slow"),
    process: processSchema,
    forMs: milliseconds,
    /** So long each event takes. */
    eventMs: milliseconds,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("clock"),
    process: processSchema,
    byMs: z.number(),
  }),
]);

const storeFaultSchema = z.discriminatedUnion("what", [
  z.strictObject({
    ...instant,
    kind: z.literal("store"),
    /** The connection is lost before the commit, or after it and before the reply. */
    what: z.enum(["lost-before", "lost-after"]),
    calls: count,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("store"),
    /** For a while, each call has a late reply. */
    what: z.literal("slow"),
    forMs: milliseconds,
    delayMs: milliseconds,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("store"),
    /** So many notifications do not reach their processes; the connection stays. */
    what: z.literal("lost-notify"),
    notifications: count,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("store"),
    /** Restarted at once, or away for a while. */
    what: z.enum(["restart", "outage", "silence"]),
    forMs: milliseconds,
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("store"),
    what: z.literal("clock"),
    byMs: z.number(),
  }),
]);

const diskFaultSchema = z.discriminatedUnion("what", [
  z.strictObject({
    ...instant,
    kind: z.literal("disk"),
    /** ENOSPC, a short write, or EIO at a sync, for so many operations. */
    what: z.enum(["full", "short", "sync"]),
    operations: count,
    /** Whether it meets operations of files, or commits of a database. */
    isOfFiles: z.boolean(),
  }),
  z.strictObject({
    ...instant,
    kind: z.literal("disk"),
    what: z.literal("power"),
    /** The process dies at the last of so many operations. */
    operations: count,
    isOfFiles: z.boolean(),
    backAfterMs: milliseconds,
  }),
]);

/** A fault at an instant of virtual time, in milliseconds. */
export const faultSchema = z.union([
  serviceFaultSchema,
  processFaultSchema,
  storeFaultSchema,
  diskFaultSchema,
]);
export type Fault = z.infer<typeof faultSchema>;

/** The faults of some kinds. */
export type FaultOf<TKind extends Fault["kind"]> = Extract<Fault, { readonly kind: TKind }>;

/** The kinds of faults, in the order of the results. */
export const faultKinds = ["kill", "freeze", "slow", "service", "disk", "store", "clock"] as const;

/** Returns when a fault ends, in milliseconds. */
export function endOf(fault: Fault): number {
  if ("delayMs" in fault) return fault.atMs + fault.forMs + fault.delayMs;
  if ("forMs" in fault) return fault.atMs + fault.forMs;
  return fault.atMs + ("backAfterMs" in fault ? fault.backAfterMs : 0);
}
