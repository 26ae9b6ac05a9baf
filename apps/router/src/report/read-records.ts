import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { z } from "zod";
import { StartError } from "../start-error.ts";
import { tierNames } from "../tier-question.ts";

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
  isEstimate: z.boolean().default(false), // older logs have no estimates
});

/** One line of the decision log. */
export type LoggedRecord = z.infer<typeof loggedRecordSchema>;

/**
 * Reads a decision log line by line; null stands for a line that is no record, such as one cut
 * short when the machine stopped.
 *
 * @throws StartError when the file cannot be read.
 */
export async function* readRecords(path: string): AsyncGenerator<LoggedRecord | null> {
  const input = createReadStream(path);
  try {
    for await (const line of createInterface({ input })) {
      if (line.trim() !== "") yield parseRecord(line);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const problem = `The decision log ${JSON.stringify(path)} cannot be read (${code}).`;
    throw new StartError(problem, { cause: error });
  }
}

function parseRecord(line: string): LoggedRecord | null {
  try {
    return loggedRecordSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
