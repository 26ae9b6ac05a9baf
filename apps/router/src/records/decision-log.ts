import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { StartError } from "../start-error.ts";
import type { Observe } from "./message-record.ts";

/** A file that each message's record is added to, as one line of JSON. */
export interface DecisionLog {
  readonly observe: Observe;
  /** Waits until every line is written. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the decision log for its owner alone, and makes the file where there is none.
 *
 * @throws StartError when the file cannot be written.
 */
export async function openDecisionLog(
  path: string,
  onFailure: (problem: string) => void,
): Promise<DecisionLog> {
  const file = await open(path, "a", 0o600).catch((error: unknown) => {
    throw new StartError(`ROUTER_DECISION_LOG=${JSON.stringify(path)} ${problemOf(error)}.`, {
      cause: error,
    });
  });
  const stream = createWriteStream(path, { fd: file, flags: "a" });
  stream.once("error", (error) => onFailure(`The decision log ${problemOf(error)}.`));
  stream.on("error", () => undefined); // a second one says nothing new
  return {
    observe: (record) => void stream.write(`${JSON.stringify(record)}\n`),
    close: () => new Promise((resolve) => void stream.end(() => resolve())),
  };
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return `cannot be written (${code})`;
}
