import { readPositionals, readWholeNumber } from "evaluator-cli-kit";
import type { LabelCommand } from "../label/label-mails.ts";
import { parseWords } from "./parse-words.ts";

const flags = {
  question: { type: "string" },
  count: { type: "string", default: "40" },
  seed: { type: "string", default: "1" },
  labels: { type: "string" },
  labeler: { type: "string", default: "person" },
  port: { type: "string", default: "0" },
} as const;

/** Reads the words of a labelling. */
export function readLabelArguments(words: readonly string[]): LabelCommand {
  const { values, positionals } = parseWords(words, flags);
  const [file = ""] = readPositionals(positionals, ["FILE"]);
  return {
    name: "label",
    file,
    question: values.question ?? null,
    count: readWholeNumber("--count", values.count, { min: 1, max: 100_000 }),
    seed: readWholeNumber("--seed", values.seed, { max: 2 ** 31 }),
    labels: values.labels ?? null,
    labeler: values.labeler,
    port: readWholeNumber("--port", values.port, { max: 65_535 }),
  };
}
