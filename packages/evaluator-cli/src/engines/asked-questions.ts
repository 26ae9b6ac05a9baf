import { resolve } from "node:path";
import {
  boolean,
  choice,
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

const listed = {
  "--choice": '--choice "What kind is it?" receipt,other',
  "--score": '--score "How important is it?" low,high',
} as const;

/**
 * Returns the questions among the words: `--choice TEXT OPTIONS`, `--score TEXT LEVELS` and
 * `--boolean TEXT`; an option may be `name=description`. Each is called after its kind.
 *
 * @throws UsageError that names what is missing.
 */
export function takeQuestions(words: readonly string[]) {
  const questions = new Map<string, Question>();
  const others: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === "--boolean") {
      add("boolean", boolean(textAt((at += 1), '--boolean "Is it a scam?"')));
    } else if (word === "--choice" || word === "--score") {
      const text = textAt((at += 1), listed[word]);
      const names = namesIn(textAt((at += 1), listed[word]), listed[word]);
      if (word === "--choice") add("choice", choice(text, Object.fromEntries(names)));
      else
        add(
          "score",
          score(
            text,
            names.map(([, description]) => description),
          ),
        );
    } else others.push(word);
  }
  return { questions: Object.fromEntries(questions), words: others };

  function textAt(at: number, example: string): string {
    const text = words[at];
    if (text !== undefined && text.trim() !== "" && !text.startsWith("--")) return text;
    throw new UsageError(`A question is typed as ${example}.`);
  }

  function add(kind: string, question: Question): void {
    let id = kind;
    for (let number = 2; questions.has(id); number += 1) id = `${kind}${number}`;
    questions.set(id, question);
  }
}

function namesIn(text: string, example: string): [name: string, description: string][] {
  const parts = text.split(",").map((part) => part.trim());
  const names = parts.map((part): [string, string] => {
    const [name = "", description = name] = part.split(/=(.*)/s, 2).map((side) => side.trim());
    return [name, description];
  });
  const isNamed = names.every(([name]) => name !== "");
  if (isNamed && new Set(names.map(([name]) => name)).size === names.length) return names;
  throw new UsageError(printable`"${text}" names an option twice or not at all; type ${example}.`);
}

/** Reads a file of question id to question. @throws CliError that names the question and what is wrong. */
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
