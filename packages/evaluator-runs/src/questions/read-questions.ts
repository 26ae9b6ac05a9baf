import { resolve } from "node:path";
import { closest, distance } from "fastest-levenshtein";
import { type CliContext, CliError, printable, readTextFile } from "evaluator-kit";
import {
  type KindName,
  type Question,
  questionKinds,
  questionSchema,
  type Questions,
} from "evaluator-client";
import {
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { columnsOf } from "../columns/columns.ts";
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
  const lines = found.slice(0, PROBLEMS_SHOWN).map(({ offset, path: place, what }) => {
    return printable`  ${path}:${positionIn(text, offset)} ${`${nameOf(place)} ${what}`.trim()}\n`;
  });
  const more = found.length - lines.length;
  const rest = more > 0 ? `  and ${more} more\n` : "";
  throw new CliError(
    `${printable`${path} cannot be used`}${note}:\n${lines.join("")}${rest}`.trimEnd(),
  );
}

/** A place in JSON: keys and indexes from the root. */
type JsonPath = readonly (string | number)[];

/** A problem in questions: the place, the problem and the remedy. */
interface Problem {
  readonly path: JsonPath;
  readonly what: string;
}

type Placed = Problem & { readonly offset: number };

function parseQuestions(text: string, source: RecordSource): Questions | Placed[] {
  try {
    return parseShallow(text, source);
  } catch (error) {
    // Endless nesting overflows the parser's stack.
    if (!(error instanceof RangeError)) throw error;
    return [{ offset: 0, path: [], what: "nests deeper than any question" }];
  }
}

function parseShallow(text: string, source: RecordSource): Questions | Placed[] {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowEmptyContent: false });
  if (errors.length > 0 || root === undefined) return errors.map(toSyntaxProblem);
  const repeated = findRepeatedKeys(root);
  if (repeated.length > 0) return repeated;
  const json = withoutSchema(JSON.parse(text) as unknown);
  const problems = findProblems(json, source);
  if (problems.length === 0) return json as Questions;
  return problems.map(({ path, what }) => ({ path, what, offset: offsetOf(root, path) }));
}

function toSyntaxProblem({ error, offset }: ParseError): Placed {
  const expected = printParseErrorCode(error)
    .replace(/(?<=[a-z])[A-Z]/g, " $&")
    .toLowerCase();
  return { offset, path: [], what: `is not JSON here: ${expected}` };
}

// Of a repeated key only the last value would be used.
function findRepeatedKeys(root: Node): Placed[] {
  const repeated: Placed[] = [];
  const look = (node: Node | undefined, path: JsonPath) => {
    if (node?.type !== "object") return;
    const seen = new Set<string>();
    for (const [key, value] of (node.children ?? []).map(({ children = [] }) => children)) {
      if (key === undefined) continue;
      const name = String(key.value);
      const inside = [...path, name];
      const what = "is there twice, and one of them would be lost; rename it or remove it";
      if (seen.has(name)) repeated.push({ path: inside, offset: key.offset, what });
      seen.add(name);
      // The options of a question are the deepest there are.
      if (inside.length < 3) look(value, inside);
    }
  };
  look(root, []);
  return repeated;
}

// `$schema` is for editors, and no question.
function withoutSchema(json: unknown): unknown {
  if (!isObject(json) || typeof json["$schema"] !== "string") return json;
  const { $schema: _schema, ...questions } = json;
  return questions;
}

/** Returns the offset of a place in a text: of its key, or of the object around a missing key. */
function offsetOf(root: Node, path: JsonPath): number {
  const node = findNodeAtLocation(root, [...path]);
  if (node === undefined) return path.length === 0 ? 0 : offsetOf(root, path.slice(0, -1));
  return node.parent?.type === "property" ? node.parent.offset : node.offset;
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

const types = Object.keys(questionKinds) as KindName[];
const fields = ["type", "instructions", "criteria"];
const howTo = {
  question: 'write { "type": ..., "instructions": ..., "criteria": ... }',
  type: `write one of ${types.join(", ")}`,
  instructions: "write the question as text",
};

/** Advice on the criteria of each kind: all of them, and one of them. */
const criteria: Record<KindName, { readonly all: string; readonly one: string }> = {
  choice: {
    all: 'write each option with its description: { "receipt": "a payment receipt" }',
    one: "write its description as text",
  },
  score: {
    all: 'write the levels from the lowest up: ["low: can wait", "high: today"]',
    one: "write it as text",
  },
  boolean: {
    all: 'leave it out, or write { "true": "what is a yes", "false": "what is a no" }',
    one: "write its description as text",
  },
};

function findProblems(json: unknown, source: RecordSource): Problem[] {
  if (!isObject(json)) {
    return [{ path: [], what: "is no object; write { question id: question }" }];
  }
  const entries = Object.entries(json);
  if (entries.length === 0) return [{ path: [], what: "holds no question; write at least one" }];
  const problems = entries.flatMap(([id, question]) => problemsOf(id, question));
  return problems.length === 0 ? clashesOf(json as Questions, source) : problems;
}

function problemsOf(id: string, question: unknown): Problem[] {
  if (id === "") return [{ path: [id], what: "is a question without an id; name it" }];
  if (!isObject(question)) {
    return [{ path: [id], what: `is ${kindOf(question)} and no question; ${howTo.question}` }];
  }
  const { data, error } = questionSchema.safeParse(question);
  if (data !== undefined) {
    const asked = data as Question;
    return [...emptyProblems(id, asked), ...sizeProblems(id, asked)];
  }
  return error.issues.flatMap(({ code, path, ...issue }) => {
    const at = path as JsonPath;
    const keys = code === "unrecognized_keys" && "keys" in issue ? issue.keys : null;
    if (keys === null) return [{ path: [id, ...at], what: wrongValue(question, at) }];
    return keys.map((key) => ({ path: [id, ...at, key], what: unknownField(question, at, key) }));
  });
}

function wrongValue(question: Readonly<Record<string, unknown>>, path: JsonPath): string {
  const [field, inner] = path;
  const value = field === undefined ? question : question[field];
  const part = inner === undefined ? value : Object(value)[inner];
  const what = part === undefined ? "is missing" : `is ${kindOf(part)}`;
  const type = types.find((known) => known === question["type"]);
  if (field === "type") return `${what}; ${howTo.type}${typeHint(part)}`;
  if (field === "instructions") return `${what}; ${howTo.instructions}`;
  if (type === undefined) return `${what}; ${howTo.question}`;
  const { all, one } = criteria[type];
  return `${what}; ${inner === undefined ? all : one}`;
}

// The vendor's name of a boolean, and other usual names.
function typeHint(type: unknown): string {
  if (typeof type !== "string") return "";
  const isYesNo = ["noul", "bool", "yesno", "yes/no"].includes(type.toLowerCase());
  return isYesNo ? " (a yes/no question is a boolean)" : hintOf(type, types);
}

function unknownField(question: unknown, path: JsonPath, key: string): string {
  const known = path.length === 0 ? fields : ["true", "false"];
  const owner =
    path.length === 0 ? `a ${(question as Question).type} question` : "the criteria of a boolean";
  return `is no field of ${owner}, which has ${known.join(", ")}${hintOf(key, known)}`;
}

function hintOf(typed: string, known: readonly string[]): string {
  const near = typed.length > 50 ? "" : closest(typed, known);
  return near !== "" && distance(typed, near) <= 3 ? ` (did you mean ${near}?)` : "";
}

function emptyProblems(id: string, { instructions }: Question): Problem[] {
  if (/\S/.test(instructions)) return [];
  return [{ path: [id, "instructions"], what: `is empty; ${howTo.instructions}` }];
}

function sizeProblems(id: string, question: Question): Problem[] {
  const kind = questionKinds[question.type];
  const { limit } = kind;
  if (limit === null) return [];
  const count = kind.keys(question).length;
  const path = [id, "criteria"];
  if (count === 0) return [{ path, what: `is empty; ${criteria[question.type].all}` }];
  if (count <= limit.most) return [];
  // As in a request (contract section 2.2): more is rejected before anything is sent.
  const problem = `has ${count} ${limit.unit}s; a model takes ${limit.most} at the most`;
  return [{ path, what: problem }];
}

/** Finds questions whose field in the results belongs to another question or to the record. */
function clashesOf(questions: Questions, { columns, word }: RecordSource): Problem[] {
  const owners = new Map<string, string>();
  const taken = new Set(["id", ...columns.map(({ name }) => name), "error"]);
  return columnsOf(questions).flatMap(({ name, asked }) => {
    const owner = taken.has(name) ? `the ${word} itself` : owners.get(name);
    owners.set(name, `the question ${asked.id}`);
    if (owner === undefined) return [];
    const what = `would be written to the field "${name}", as ${owner} is; rename it`;
    return [{ path: [asked.id], what }];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
