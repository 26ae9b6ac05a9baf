import { UsageError } from "evaluator-cli-kit";
import { parseWords } from "./parse-words.ts";

/** One mail to explain. */
export interface ExplainCommand {
  readonly name: "explain";
  readonly id: string;
  /** The input file as typed; null for the one journal in the folder. */
  readonly file: string | null;
}

/** Reads the words of an explanation. */
export function readExplainArguments(words: readonly string[]): ExplainCommand {
  const { positionals } = parseWords(words, {});
  const [id, file = null, ...others] = positionals;
  if (id === undefined || others.length > 0) {
    throw new UsageError("explain takes an ID, and the FILE it is from");
  }
  return { name: "explain", id, file };
}
