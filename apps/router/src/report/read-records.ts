import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { parseJson, toFileError } from "evaluator-kit";
import { z } from "zod";
import { tierNames } from "../decision/tier-question.ts";
import { blindName } from "../keys/budget-state.ts";

/** How a call with own questions ended, if its client did not stop it. */
const evaluationOutcomes = ["answered", "refused", "failed", "stopped"] as const;

const amountSchema = z.number().nullable();
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
  costUsd: amountSchema,
});

const loggedRecordSchema = z.object({
  time: z.iso.datetime(),
  outcome: z.enum(["replied", "decided", "reply-failed", "no-decision", ...evaluationOutcomes]),
  failure: z.string().nullable(),
  tierChosen: tier,
  tierUsed: tier,
  cause: z.string().nullable(),
  decisionCostUsd: amountSchema,
  replyCostUsd: amountSchema,
  frontierCostUsd: amountSchema,
  // Older logs lack the following fields.
  requestId: z.string().nullable().default(null),
  /** The named key of the client. */
  key: z.string().nullable().default(null),
  model: z.string().nullable().default(null),
  probabilities: z.record(z.enum(tierNames), z.number()).nullable().default(null),
  evaluatorModelId: z.string().nullable().default(null),
  wire: z.string().nullable().default(null),
  promise: z.object({ why: z.string(), evidence: evidenceSchema }).partial().nullish(),
  decisionMs: amountSchema.default(null),
  replyMs: amountSchema.default(null),
  upstream: z.string().nullable().default(null),
  outputTokens: amountSchema.default(null),
  endpoint: z.string().nullable().default(null),
  /** The call's own questions; null for a message. */
  evaluation: z
    .object({
      service: z.string(),
      kinds: z.string(),
      usd: amountSchema,
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
export function findRecord(logLine: string): LoggedRecord | null {
  return logLine.includes('"outcome"') ? parsedLine(logLine, loggedRecordSchema) : null;
}

/** Parses a message or a call with own questions. */
export function findCallRecord(logLine: string): LoggedRecord | null {
  return findRecord(logLine) ?? findEvaluationRecord(logLine);
}

/** Parses a call, or the cost of a blind comparison as a message of the key `blind`. */
export function findMessage(logLine: string): LoggedRecord | null {
  return findCallRecord(logLine) ?? findBlindRecord(logLine);
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
  outputTokens: amountSchema,
  evaluationUsd: amountSchema,
  evaluationMs: z.number(),
  steps: z.array(stepSchema).default([]),
});

function findEvaluationRecord(logLine: string): LoggedRecord | null {
  if (!logLine.includes('"evaluationUsd"')) return null;
  const loggedCall = parsedLine(logLine, evaluationSchema);
  if (loggedCall === null) return null;
  const { questions, service, evaluationUsd: usd, evaluationMs, steps, ...callFields } = loggedCall;
  const questionsByKind = Map.groupBy(Object.values(questions), (questionKind) => questionKind);
  const kinds = Array.from(questionsByKind, ([kind, { length }]) => `${length} ${kind}`).join(", ");
  const callRecord = { ...callFields, ...unroutedParts, decisionMs: evaluationMs };
  return loggedRecordSchema.parse({ ...callRecord, evaluation: { service, kinds, usd, steps } });
}

const unroutedParts = {
  tierChosen: null,
  tierUsed: null,
  cause: null,
  decisionCostUsd: null,
  replyCostUsd: null,
  frontierCostUsd: null,
};

function findBlindRecord(logLine: string): LoggedRecord | null {
  const { time, blind } = toNote(logLine) ?? {};
  if (blind === undefined) return null;
  const blindRecord = {
    time,
    outcome: "replied",
    failure: null,
    key: blindName,
    ...unroutedParts,
    replyCostUsd: blind.spentUsd,
  };
  return loggedRecordSchema.safeParse(blindRecord).data ?? null;
}

const answersSchema = z.object({
  requestId: z.string(),
  outcome: z.literal("answered"),
  answers: z.record(z.string(), z.looseObject({ type: z.string() })),
  route: z.record(z.string(), z.object({ step: z.int(), model: z.string() })),
});

/** Parses the answers of a call in which a second service may be asked, if the log has them; else null. */
export function findRoutedAnswers(logLine: string): z.infer<typeof answersSchema> | null {
  return logLine.includes('"route"') ? parsedLine(logLine, answersSchema) : null;
}

/** Reads the lines of a file. @throws CliError if it cannot be read. */
export async function* readLines(filePath: string, fileKind = ""): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(filePath) });
  } catch (error) {
    throw toFileError(error, `read ${fileKind}${JSON.stringify(filePath)}`);
  }
}

/**
 * The lines of a decision log that are no records: a router that is killed cuts its last line, and the next start
 * writes behind it.
 */
export class PassedLines {
  #lineCount = 0;
  #firstNumber = 0;

  /** Counts a line by its number, from 1. */
  add(lineNumber: number): void {
    if (this.#lineCount === 0) this.#firstNumber = lineNumber;
    this.#lineCount += 1;
  }

  /** Returns a sentence about the lines; empty without one. */
  describe(): string {
    if (this.#lineCount === 0) return "";
    if (this.#lineCount === 1) return `Passed over line ${this.#firstNumber}, which is no record.`;
    return `Passed over ${this.#lineCount.toLocaleString("en")} lines that are no records; the first is line ${this.#firstNumber}.`;
  }
}

/** Parses a note on a message. The test of the field is cheap, as a message has it near its start. */
export function toNote(logLine: string) {
  return logLine.includes('"outcome"') ? null : parsedLine(logLine, noteSchema);
}

/** Parses a line of JSON; null if it is invalid. */
export function parsedLine<TSchema extends z.ZodType>(logLine: string, lineSchema: TSchema) {
  return lineSchema.safeParse(parseJson(logLine)).data ?? null;
}
