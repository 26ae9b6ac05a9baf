import { resolve } from "node:path";
import { type CliContext, CliError, printable, readTextFile } from "evaluator-kit";
import type { Questions } from "evaluator-client";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import {
  findProblems,
  findRepeatedKeys,
  type JsonPath,
  offsetOf,
  type QuestionProblem,
} from "./question-problems.ts";
import type { RecordSource } from "../input/record-source.ts";

/** Reads the questions of a run: those of a file, else those of the source. */
export async function chooseQuestions(
  file: string | undefined,
  { cwd, env, source }: Pick<CliContext, "cwd" | "env"> & { readonly source: RecordSource },
): Promise<Questions> {
  if (file === undefined) return await source.questions(env);
  return await readQuestions(resolve(cwd, file), source, ", and nothing was sent");
}

const PROBLEMS_SHOWN = 20;

/**
 * Reads questions from a JSON file: an object of question id to question (contract section 2.2),
 * and `$schema` for an editor.
 *
 * @param note - The rest of the sentence about an invalid file.
 * @throws CliError with place, problem and remedy.
 */
export async function readQuestions(
  path: string,
  source: RecordSource,
  note = "",
): Promise<Questions> {
  const text = await readTextFile(path, "Check the path of the questions file.");
  const found = parseQuestions(text, source);
  if (!Array.isArray(found)) return found;
  const lines = found.slice(0, PROBLEMS_SHOWN).map(({ offset, what }) => {
    return printable`  ${path}:${positionIn(text, offset)} ${what}\n`;
  });
  const more = found.length - lines.length;
  const rest = more > 0 ? `  and ${more} more\n` : "";
  throw new CliError(
    `${printable`${path} cannot be used`}${note}:\n${lines.join("")}${rest}`.trimEnd(),
  );
}

interface Found {
  readonly offset: number;
  readonly what: string;
}

function parseQuestions(text: string, source: RecordSource): Questions | Found[] {
  try {
    return parseShallow(text, source);
  } catch (error) {
    // Endless nesting overflows the parser's stack.
    if (!(error instanceof RangeError)) throw error;
    return [{ offset: 0, what: "nests deeper than any question" }];
  }
}

function parseShallow(text: string, source: RecordSource): Questions | Found[] {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowEmptyContent: false });
  if (errors.length > 0 || root === undefined) return errors.map(toSyntaxProblem);
  const repeated = findRepeatedKeys(root);
  if (repeated.length > 0) {
    const what = "is there twice, and one of them would be lost; rename it or remove it";
    return repeated.map(({ path, offset }) => ({ offset, what: `${nameOf(path)} ${what}` }));
  }
  const json = withoutSchema(JSON.parse(text) as unknown);
  const problems = findProblems(json, source);
  return problems.length === 0 ? (json as Questions) : problems.map((one) => toFound(one, root));
}

// `$schema` is for editors, and no question.
function withoutSchema(json: unknown): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const entries = Object.entries(json);
  return Object.fromEntries(
    entries.filter(([key, value]) => key !== "$schema" || typeof value !== "string"),
  );
}

function toFound({ path, what }: QuestionProblem, root: Node): Found {
  return { offset: offsetOf(root, path), what: `${nameOf(path)} ${what}`.trim() };
}

function toSyntaxProblem({ error, offset }: ParseError): Found {
  const expected = printParseErrorCode(error).replace(/(?<=[a-z])[A-Z]/g, (letter) => {
    return ` ${letter.toLowerCase()}`;
  });
  return { offset, what: `is not JSON here: ${expected.toLowerCase()}` };
}

function nameOf(path: JsonPath): string {
  return path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : `${at === 0 ? "" : "."}${part}`))
    .join("");
}

function positionIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}
