import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseJson, toFileError } from "evaluator-kit";
import { z } from "zod";
import { tierNames } from "../decision/tier-question.ts";
import { blindName } from "../keys/budget-state.ts";

/** How a call with own questions ended, if its client did not stop it. */
const evaluationOutcomes = ["answered", "refused", "failed", "stopped"] as const;

const amount = z.number().nullable();
const tier = z.enum(tierNames).nullable();

const evidenceSchema = z.object({
  threshold: z.number(),
  maxRisk: z.number(),
  confidence: z.number(),
  n: z.number(),
  wrong: z.number(),
});

/** One service's part in a call that may escalate to another service. */
const stepSchema = z.object({
  service: z.string(),
  model: z.string().default(""),
  answers: z.int(),
  costUsd: amount,
});

const loggedRecordSchema = z.object({
  time: z.iso.datetime(),
  outcome: z.enum(["replied", "decided", "reply-failed", "no-decision", ...evaluationOutcomes]),
  failure: z.string().nullable(),
  tierChosen: tier,
  tierUsed: tier,
  cause: z.string().nullable(),
  decisionCostUsd: amount,
  replyCostUsd: amount,
  frontierCostUsd: amount,
  // Older logs lack the following fields.
  requestId: z.string().nullable().default(null),
  /** The named key of the client. */
  key: z.string().nullable().default(null),
  model: z.string().nullable().default(null),
  probabilities: z.record(z.enum(tierNames), z.number()).nullable().default(null),
  evaluatorModelId: z.string().nullable().default(null),
  wire: z.string().nullable().default(null),
  promise: z.object({ why: z.string(), evidence: evidenceSchema }).partial().nullish(),
  decisionMs: amount.default(null),
  replyMs: amount.default(null),
  upstream: z.string().nullable().default(null),
  outputTokens: amount.default(null),
  endpoint: z.string().nullable().default(null),
  /** The call's own questions; null for a message. */
  evaluation: z
    .object({
      service: z.string(),
      kinds: z.string(),
      usd: amount,
      steps: z.array(stepSchema).default([]),
    })
    .nullable()
    .default(null),
});

/** A message in the decision log. */
export type LoggedRecord = z.infer<typeof loggedRecordSchema>;

const sideSchema = z.object({ tier, quality: z.number(), costUsd: z.number() });

const blindSchema = z.object({
  /** Cost of the comparison, also if it failed. */
  spentUsd: z.number(),
  pair: z.object({ routed: sideSchema, cheapest: sideSchema, dearest: sideSchema }).nullable(),
});

/** A blind comparison of a message's replies. */
export type BlindNote = z.infer<typeof blindSchema>;

/** A further line on a message: the right tier, a thumb for the reply, or its blind comparison. */
const noteSchema = z.object({
  time: z.string().default(""),
  requestId: z.string(),
  feedback: z.enum(tierNames).optional(),
  thumb: z.enum(["up", "down"]).optional(),
  blind: blindSchema.optional(),
});

/** A note in the decision log. */
export type Note = z.infer<typeof noteSchema>;

/** Parses a message of the log; null for any other line. */
export function findRecord(line: string): LoggedRecord | null {
  return line.includes('"outcome"') ? parsedLine(line, loggedRecordSchema) : null;
}

/** Parses a message or a call with own questions. */
export function findCallRecord(line: string): LoggedRecord | null {
  return findRecord(line) ?? findEvaluationRecord(line);
}

/** Parses a call, or the cost of a blind comparison as a message of the key `blind`. */
export function findMessage(line: string): LoggedRecord | null {
  return findCallRecord(line) ?? findBlindRecord(line);
}

const evaluationSchema = z.object({
  time: z.iso.datetime(),
  requestId: z.string(),
  endpoint: z.string(),
  key: z.string().nullable(),
  outcome: z.enum(evaluationOutcomes),
  failure: z.string().nullable(),
  service: z.string(),
  model: z.string().nullable(),
  wire: z.string().nullable(),
  questions: z.record(z.string(), z.string()),
  outputTokens: amount,
  evaluationUsd: amount,
  evaluationMs: z.number(),
  steps: z.array(stepSchema).default([]),
});

function findEvaluationRecord(line: string): LoggedRecord | null {
  if (!line.includes('"evaluationUsd"')) return null;
  const data = parsedLine(line, evaluationSchema);
  if (data === null) return null;
  const { questions, service, evaluationUsd: usd, evaluationMs, steps, ...call } = data;
  const counts = Map.groupBy(Object.values(questions), (kind) => kind);
  const kinds = Array.from(counts, ([kind, { length }]) => `${length} ${kind}`).join(", ");
  const record = { ...call, ...unroutedParts, decisionMs: evaluationMs };
  return loggedRecordSchema.parse({ ...record, evaluation: { service, kinds, usd, steps } });
}

const unroutedParts = {
  tierChosen: null,
  tierUsed: null,
  cause: null,
  decisionCostUsd: null,
  replyCostUsd: null,
  frontierCostUsd: null,
};

function findBlindRecord(line: string): LoggedRecord | null {
  const { time, blind } = toNote(line) ?? {};
  if (blind === undefined) return null;
  const record = {
    time,
    outcome: "replied",
    failure: null,
    key: blindName,
    ...unroutedParts,
    replyCostUsd: blind.spentUsd,
  };
  return loggedRecordSchema.safeParse(record).data ?? null;
}

const answersSchema = z.object({
  requestId: z.string(),
  outcome: z.literal("answered"),
  answers: z.record(z.string(), z.looseObject({ type: z.string() })),
  route: z.record(z.string(), z.object({ step: z.int(), model: z.string() })),
});

/** Parses the answers of a call in which a second service may be asked, if the log has them; else null. */
export function findRoutedAnswers(line: string): z.infer<typeof answersSchema> | null {
  return line.includes('"route"') ? parsedLine(line, answersSchema) : null;
}

/** Reads the lines of a file. @throws CliError if it cannot be read. */
export async function* readLines(path: string, name = ""): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path) });
  } catch (error) {
    throw toFileError(error, `read ${name}${JSON.stringify(path)}`);
  }
}

/**
 * The lines of a decision log that are no records: a router that is killed cuts its last line, and the next start
 * writes behind it.
 */
export class PassedLines {
  #count = 0;
  #firstNumber = 0;

  /** Counts a line by its number, from 1. */
  add(number: number): void {
    if (this.#count === 0) this.#firstNumber = number;
    this.#count += 1;
  }

  /** Returns a sentence about the lines; empty without one. */
  describe(): string {
    if (this.#count === 0) return "";
    if (this.#count === 1) return `Passed over line ${this.#firstNumber}, which is no record.`;
    return `Passed over ${this.#count.toLocaleString("en")} lines that are no records; the first is line ${this.#firstNumber}.`;
  }
}

/** Parses a note on a message. The test of the field is cheap, as a message has it near its start. */
export function toNote(line: string) {
  return line.includes('"outcome"') ? null : parsedLine(line, noteSchema);
}

/** Parses a line of JSON; null if it is invalid. */
export function parsedLine<TSchema extends z.ZodType>(line: string, schema: TSchema) {
  return schema.safeParse(parseJson(line)).data ?? null;
}
