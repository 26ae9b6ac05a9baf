import type { KindName } from "evaluator-client";
import {
  decimal,
  InvalidArgumentError,
  Option,
  printable,
  UsageError,
  wholeNumber,
} from "evaluator-kit";

/** Parses a limit. */
export const parseLimit = decimal({ min: 0.000001, what: "a number" });

/** Parses a setting that is not an option, such as an environment variable. @throws UsageError */
export function readSetting<TValue>(
  settingName: string,
  settingText: string | undefined,
  parseSetting: (settingText: string) => TValue,
): TValue | undefined {
  try {
    return settingText === undefined ? undefined : parseSetting(settingText);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(
      printable`${settingName} "${String(settingText)}" is invalid. ${error.message}`,
    );
  }
}

export const labelsOption = new Option(
  "--labels <file>",
  "NDJSON, CSV with a header, or a JSON array of { id, question?, truth, skipped?, weight?, group?, labeler? }",
);

export const allowUnknownOption = new Option(
  "--allow-unknown",
  "count labels without an answer instead of refusing them",
);

export const lastOption = new Option(
  "--last",
  "use the last of several answers or labels of a record",
);

export const seedOption = new Option("--seed <n>", "seed of the random draws")
  .argParser(wholeNumber())
  .default(20_260_101);

export const jsonOption = new Option("--json", "print the result as JSON");

/** How each kind of engine is typed, and which service it reaches. */
export const engineForms = {
  gateway: ["[=URL][@MODEL]", "the AI gateway's evaluation model"],
  direct: ["[=URL][@MODEL]", "the vendor, or a server with POST /v1/systemone"],
  decisions: ["=URL@MODEL", "a server with POST /v1/decisions"],
  logprobs: ["=URL@MODEL", "a chat server with log-probabilities"],
} as const;

/** The form of a value in JSON. */
export type AnswerForm = "text" | "number" | "numbers by name";

interface TypedKind {
  /** The words after the text, for help; null if there are none. */
  readonly names: string | null;
  readonly example: string;
  /** How the criteria are written in JSON. */
  readonly criteriaInWords: string;
  /** The field that only its answers have: its name, form and description. */
  readonly answer: readonly ["choice" | "score" | "probability" | "box", AnswerForm, string];
}

/** How each kind of question is typed after `--KIND <text>`. */
export const typedKinds: Readonly<Record<KindName, TypedKind>> = {
  choice: {
    names: "<options...>",
    example: '"What kind is it?" receipt,other',
    criteriaInWords: "an object of option to meaning; add a way out such as `other`",
    answer: ["choice", "text", "choice: the likeliest option"],
  },
  score: {
    names: "<levels...>",
    example: '"How important is it?" low,high',
    criteriaInWords: "a list of levels from low to high, each a sentence",
    answer: ["score", "number", "mean of the level indexes, from 0"],
  },
  boolean: {
    names: null,
    example: '"Is it a scam?"',
    criteriaInWords: "optional, { true, false }: what counts as yes and no",
    answer: ["probability", "number", "boolean: of yes"],
  },
  box: {
    names: null,
    example: '"the coffee mug"',
    criteriaInWords: "none; the state needs an image",
    answer: ["box", "numbers by name", "the edges, as fractions from the top left"],
  },
};

/** A word of a question, with the kind whose option it was typed after. */
export interface TypedWord {
  readonly kind: KindName;
  readonly word: string;
}

/** The typed options of a command's declaration. */
export type OptionsOf<TDeclare extends (...words: never[]) => { opts(): unknown }> = ReturnType<
  ReturnType<TDeclare>["opts"]
>;
