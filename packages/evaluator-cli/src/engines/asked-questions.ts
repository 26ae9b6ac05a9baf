import { resolve } from "node:path";
import {
  boolean,
  choice,
  type KindName,
  type Question,
  type Questions,
  questionSchema,
  score,
} from "evaluator-client";
import {
  CliError,
  type CliContext,
  printable,
  UsageError,
  readTextFile,
  parseJson,
} from "evaluator-kit";
import { typedKinds, type TypedWord } from "../commands/ask-commands.ts";

type Words = readonly [text: string, names: string];

const builders = {
  choice: ([text, names]) => choice(text, Object.fromEntries(namesIn(names, "choice"))),
  score: ([text, names]) =>
    score(
      text,
      namesIn(names, "score").map(([, description]) => description),
    ),
  boolean: ([text]) => boolean(text),
} satisfies Record<KindName, (words: Words) => Question>;

/**
 * Returns the typed questions; each is called after its kind.
 *
 * @throws UsageError with an example of the kind.
 */
export function toQuestions(typed: readonly TypedWord[]): Questions {
  const questions = new Map<string, Question>();
  const words = typed.values();
  for (const { kind, word } of words) {
    const names = typedKinds[kind].names !== "" ? nameWord(words.next().value, kind) : "";
    if (word.trim() === "" || word.startsWith("--")) throw mistyped(kind);
    let id: string = kind;
    for (let number = 2; questions.has(id); number += 1) id = `${kind}${number}`;
    questions.set(id, builders[kind]([word, names]));
  }
  return Object.fromEntries(questions);
}

function nameWord(next: TypedWord | undefined, kind: KindName): string {
  if (next?.kind === kind) return next.word;
  throw mistyped(kind);
}

function mistyped(kind: KindName): UsageError {
  return new UsageError(`A question is typed as ${exampleOf(kind)}.`);
}

function exampleOf(kind: KindName): string {
  return `--${kind} ${typedKinds[kind].example}`;
}

function namesIn(text: string, kind: KindName): [name: string, description: string][] {
  const parts = text.split(",").map((part) => part.trim());
  const names = parts.map((part): [string, string] => {
    const [name = "", description = name] = part.split(/=(.*)/s, 2).map((side) => side.trim());
    return [name, description];
  });
  const isNamed = names.every(([name]) => name !== "");
  if (isNamed && new Set(names.map(([name]) => name)).size === names.length) return names;
  throw new UsageError(
    printable`"${text}" names an option twice or not at all; type ${exampleOf(kind)}.`,
  );
}

/** Reads a file of question id to question. @throws CliError with the question and its problem. */
export async function readQuestionsFile(name: string, { cwd }: CliContext): Promise<Questions> {
  const path = resolve(cwd, name);
  const text = await readTextFile(path, "Check the path after --questions.");
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    const wanted = '{ "scam": { "type": "boolean", "instructions": "…" } }';
    throw new CliError(printable`${name} is no JSON object of questions, such as ${wanted}.`);
  }
  const problems = Object.entries(json).flatMap(([id, question]) => {
    const issues = questionSchema.safeParse(question).error?.issues ?? [];
    return issues.map(({ path: at, message }) => printable`  ${[id, ...at].join(".")}: ${message}`);
  });
  if (problems.length === 0) return json as Questions;
  throw new CliError(printable`${name} cannot be used:` + `\n${problems.join("\n")}`);
}
