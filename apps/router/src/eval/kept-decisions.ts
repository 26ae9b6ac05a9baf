import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { systemErrorCode, toFileError } from "evaluator-kit";
import { z } from "zod";
import type { TierState } from "../decision/decision.ts";
import { openLineFile } from "../records/line-file.ts";
import { tierNames, tierQuestionHash } from "../tier-question.ts";
import type { KnownDecision } from "./read-prompts.ts";

const tier = z.enum(tierNames);
const keptSchema = z.object({
  key: z.string(),
  choice: tier,
  probabilities: z.record(tier, z.number()),
  confidence: z.number().nullable(),
  modelId: z.string().nullable().default(null), // older files do not name it
  wire: z.string().nullable().default(null),
});

/** Decisions that were paid for, in a file beside the prompts. */
export type KeptDecisions = Awaited<ReturnType<typeof openKeptDecisions>>;

const advice = "Name another file with --decisions.";

/** Returns what a decision is known by: what was asked of whom. No text of the prompt is kept. */
export function decisionKey(state: TierState, engine: string): string {
  const asked = JSON.stringify([engine, tierQuestionHash, state.user_message, state.earlier_turns]);
  return createHash("sha256").update(asked).digest("base64url");
}

/**
 * Opens the file of kept decisions, and makes it where there is none. A line that was cut short is
 * asked for again.
 *
 * @throws CliError when it cannot be written.
 */
export async function openKeptDecisions(path: string) {
  const decisions = new Map<string, KnownDecision>();
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return "";
    throw toFileError(error, `read ${path}`, advice);
  });
  for (const line of text.split("\n")) {
    const kept = parsed(line);
    if (kept !== null) decisions.set(kept.key, kept);
  }
  const file = await openLineFile(path).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, advice);
  });
  return {
    get: (key: string) => decisions.get(key),
    /** Keeps one; it is in the file before this resolves. */
    async add(key: string, decision: KnownDecision) {
      decisions.set(key, decision);
      const line = `${JSON.stringify({ key, ...decision })}\n`;
      await file.add([line]).catch(({ cause }: Error) => {
        throw toFileError(cause, `write ${path}`, advice);
      });
    },
    close: () => file.close(),
  };
}

function parsed(line: string): z.infer<typeof keptSchema> | null {
  try {
    return keptSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
