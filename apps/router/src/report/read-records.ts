import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import {
  describeSystemError,
  CliError,
  type Environment,
  parseWords,
  UsageError,
} from "evaluator-kit";
import { z } from "zod";
import { type Tier, tierNames } from "../tier-question.ts";

const amount = z.number().nullable();
const tier = z.enum(tierNames).nullable();

/** What a report needs of one line of the decision log. */
export const loggedRecordSchema = z.object({
  time: z.iso.datetime(),
  outcome: z.enum(["replied", "decided", "reply-failed", "no-decision", "stopped"]),
  failure: z.string().nullable(),
  tierChosen: tier,
  tierUsed: tier,
  cause: z.string().nullable(),
  decisionCostUsd: amount,
  replyCostUsd: amount,
  frontierCostUsd: amount,
  shadow: z.object({ replyCostUsd: amount }).nullish(), // older logs have none
  confidence: amount.default(null),
  decisionMs: amount.default(null),
  replyMs: amount.default(null),
  isEstimate: z.boolean().default(false), // older logs have no estimates
});

/** One line of the decision log. */
export type LoggedRecord = z.infer<typeof loggedRecordSchema>;

/**
 * Reads a decision log line by line; null stands for a line that is no record, such as one cut
 * short when the machine stopped.
 *
 * @throws CliError when the file cannot be read.
 */
export async function* readRecords(path: string, start = 0): AsyncGenerator<LoggedRecord | null> {
  for await (const line of readLines(path, { name: "The decision log ", start })) {
    if (line.trim() !== "" && feedbackOf(line) === null) yield parseRecord(line);
  }
}

/**
 * Reads the lines of a file, from a byte on.
 *
 * @throws CliError when it cannot be read.
 */
export async function* readLines(
  path: string,
  { name = "", start = 0 }: { readonly name?: string; readonly start?: number } = {},
): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path, { start }) });
  } catch (error) {
    const reason = describeSystemError(error) ?? "unknown error";
    const problem = `${name}${JSON.stringify(path)} cannot be read: ${reason}.`;
    throw new CliError(problem, { cause: error });
  }
}

/** What somebody said of a message's tier, as the decision log keeps it. */
export const feedbackSchema = z.object({ requestId: z.string(), feedback: z.enum(tierNames) });

/** A line of feedback is known by its field: parsing every line twice would take twice the time. */
function feedbackOf(line: string): z.infer<typeof feedbackSchema> | null {
  if (!line.includes('"feedback":')) return null;
  try {
    return feedbackSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

/**
 * Reads what people said of tiers, the last word on each message.
 *
 * @throws CliError when the file cannot be read.
 */
export async function readFeedback(path: string): Promise<ReadonlyMap<string, Tier>> {
  const tiers = new Map<string, Tier>();
  for await (const line of readLines(path, { name: "The decision log " })) {
    const feedback = feedbackOf(line);
    if (feedback !== null) tiers.set(feedback.requestId, feedback.feedback);
  }
  return tiers;
}

function parseRecord(line: string): LoggedRecord | null {
  try {
    return loggedRecordSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

/**
 * Returns the path of the decision log to report on: the one named, else the router's own.
 *
 * @throws UsageError when neither says which.
 */
export function reportPath(words: readonly string[], env: Environment): string {
  const [named, ...others] = parseWords(words, {}).positionals;
  const path = named ?? env["ROUTER_DECISION_LOG"];
  if (others.length > 0) throw new UsageError("One decision log at a time can be reported on.");
  if (path !== undefined) return path;
  throw new UsageError("No decision log is named, and ROUTER_DECISION_LOG is not set.");
}
