import { resolve } from "node:path";
import {
  type CliContext,
  CliError,
  isRecord,
  printable,
  placeAt,
  readTextFile,
  UsageError,
  withRest,
} from "evaluator-kit";
import {
  type KindName,
  type Question,
  questionKinds,
  questionSchema,
  type Questions,
  wordingText,
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
import { questionsForm } from "../shared-options.ts";

/** Reads the questions of a run: those of a file, else those of the source. */
export async function chooseQuestions(
  file: string | undefined,
  { cwd, env, source }: Pick<CliContext, "cwd" | "env"> & { readonly source: RecordSource },
): Promise<Questions> {
  if (file !== undefined) {
    return await readQuestions(resolve(cwd, file), source, ", and nothing was sent");
  }
  if (source.questions !== undefined) return await source.questions(env);
  throw new UsageError(`--questions is missing: ${questionsForm}.`);
}

const PROBLEMS_SHOWN = 20;

type FieldOwner = Pick<RecordSource, "columns" | "word">;

/**
 * Reads questions from a JSON file: an object of question id to question (contract section 2.2),
 * and `$schema` for an editor.
 *
 * @param source - The records whose results have a field for each question; null if there are none.
 * @param note - The rest of the sentence about an invalid file.
 * @throws CliError with place, problem and remedy.
 */
export async function readQuestions(
  path: string,
  source: FieldOwner | null,
  note = "",
): Promise<Questions> {
  const text = await readTextFile(path);
  const problems = findProblems(text, source);
  if (problems.length === 0) return withoutSchema(JSON.parse(text)) as Questions;
  const lines = problems.slice(0, PROBLEMS_SHOWN).map(({ offset, what }) => {
    const { line, column } = placeAt(text, offset);
    return printable`${path}:${String(line)}:${String(column)} ${what}`;
  });
  const problemLines = withRest(lines, PROBLEMS_SHOWN, problems.length).join("\n  ");
  throw new CliError(printable`${path} cannot be used` + `${note}:\n  ${problemLines}`);
}

/** A place in JSON: keys and indexes from the root. */
type JsonPath = readonly (string | number)[];

/** Takes a problem: its place, the problem with its remedy, and an offset other than that of the place. */
type Report = (path: JsonPath, what: string, offset?: number) => void;

function findProblems(text: string, source: FieldOwner | null): { offset: number; what: string }[] {
  try {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { disallowComments: true, allowEmptyContent: false });
    if (errors.length > 0 || root === undefined) return errors.map(toSyntaxProblem);
    const problemList: { offset: number; what: string }[] = [];
    const report: Report = (path, what, offset = computeOffset(root, path)) => {
      problemList.push({ offset, what: `${toName(path)} ${what}`.trim() });
    };
    checkKeys(root, [], report);
    const json = withoutSchema(JSON.parse(text));
    if (problemList.length === 0) checkQuestions(json, report);
    if (problemList.length > 0 || source === null) return problemList;
    checkImages(json as Questions, source, report);
    checkFields(json as Questions, source, report);
    return problemList;
  } catch (error) {
    // Endless nesting overflows the parser's stack.
    if (!(error instanceof RangeError)) throw error;
    return [{ offset: 0, what: "is nested too deeply" }];
  }
}

function toSyntaxProblem({ error, offset }: ParseError) {
  const expectedText = printParseErrorCode(error).replace(/(?<=[a-z])[A-Z]/g, " $&");
  return { offset, what: `is not JSON here: ${expectedText.toLowerCase()}` };
}

/** Returns the offset of a place in a text: of its key, or of the object around a missing key. */
function computeOffset(root: Node, path: JsonPath): number {
  const node = findNodeAtLocation(root, [...path]);
  if (node === undefined) return path.length === 0 ? 0 : computeOffset(root, path.slice(0, -1));
  return node.parent?.type === "property" ? node.parent.offset : node.offset;
}

function toName(path: JsonPath): string {
  return path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : `${at === 0 ? "" : "."}${part}`))
    .join("");
}

// `$schema` is for editors, and no question.
function withoutSchema(json: unknown): unknown {
  if (!isRecord(json) || typeof json["$schema"] !== "string") return json;
  const { $schema: _schema, ...questions } = json;
  return questions;
}

// Of a repeated key only the last value would be used.
function checkKeys(node: Node | undefined, path: JsonPath, report: Report): void {
  // The options of a question are the deepest there are.
  if (node?.type !== "object" || path.length > 2) return;
  const seenNames = new Set<unknown>();
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (key === undefined) continue;
    const inside = [...path, String(key.value)];
    const what = "is there twice; rename or remove one";
    if (seenNames.has(key.value)) report(inside, what, key.offset);
    seenNames.add(key.value);
    checkKeys(value, inside, report);
  }
  const writtenNames = [...seenNames].map(String);
  const read = Object.keys(Object.fromEntries(writtenNames.map((key) => [key, null])));
  const movedText = read.find((key, at) => key !== writtenNames[at]);
  if (movedText !== undefined) report([...path, movedText], SORTED);
}

const SORTED =
  "looks like an integer, which JavaScript sorts first; write such names first in ascending order, or begin them with a letter";

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
  box: { all: "leave it out", one: "leave it out" },
  boolean: {
    all: 'leave it out, or write { "true": "what is a yes", "false": "what is a no" }',
    one: "write its description as text",
  },
};

function checkQuestions(json: unknown, report: Report): void {
  if (!isRecord(json)) return report([], "is no object; write { question id: question }");
  const entries = Object.entries(json);
  if (entries.length === 0) return report([], "has no question; write one");
  for (const [id, question] of entries) checkQuestion(id, question, report);
}

function checkQuestion(id: string, question: unknown, report: Report): void {
  if (id === "") return report([id], "has no id; name it");
  if (!isRecord(question)) {
    return report([id], `is ${toKind(question)}; ${howTo.question}`);
  }
  const { data, error } = questionSchema.safeParse(question);
  if (data !== undefined) return checkTexts(id, data as Question, report);
  for (const { code, path, ...issue } of error.issues) {
    const at = path as JsonPath;
    const keys = code === "unrecognized_keys" && "keys" in issue ? issue.keys : null;
    if (keys === null) report([id, ...at], wrongValue(question, at));
    for (const key of keys ?? []) report([id, ...at, key], unknownField(question, at));
  }
}

function checkTexts(id: string, question: Question, report: Report): void {
  if (!/\S/.test(wordingText(question.instructions))) {
    report([id, "instructions"], `is empty; ${howTo.instructions}`);
  }
  const kind = questionKinds[question.type];
  const { limit } = kind;
  if (limit === null) return;
  const count = kind.keys(question).length;
  if (count === 0) report([id, "criteria"], `is empty; ${criteria[question.type].all}`);
  // As in a request (contract section 2.2): more is rejected before anything is sent.
  const problem = `has ${count} ${limit.unit}s; a model takes at most ${limit.most}`;
  if (count > limit.most) report([id, "criteria"], problem);
}

function wrongValue(question: Readonly<Record<string, unknown>>, path: JsonPath): string {
  const [field, inner] = path;
  const value = field === undefined ? question : question[field];
  const part = inner === undefined ? value : Object(value)[inner];
  const what = part === undefined ? "is missing" : `is ${toKind(part)}`;
  const type = types.find((listedType) => listedType === question["type"]);
  if (field === "type") return `${what}; ${howTo.type}${yesNoHint(part)}`;
  if (field === "instructions") return `${what}; ${howTo.instructions}`;
  if (type === undefined) return `${what}; ${howTo.question}`;
  const { all, one } = criteria[type];
  return `${what}; ${inner === undefined ? all : one}`;
}

// The vendor's name of a boolean, and other usual names.
function yesNoHint(type: unknown): string {
  const isYesNo = ["noul", "bool", "yesno", "yes/no"].includes(String(type).toLowerCase());
  return isYesNo ? " (a yes/no question is a boolean)" : "";
}

function unknownField(question: unknown, path: JsonPath): string {
  const knownText = path.length === 0 ? fields : ["true", "false"];
  const owner =
    path.length === 0 ? `a ${(question as Question).type} question` : "the criteria of a boolean";
  return `is not a field of ${owner}; use ${knownText.join(", ")}`;
}

// A field of the results belongs to one question, or to the record.
function checkImages(questions: Questions, { word }: FieldOwner, report: Report): void {
  for (const [id, { type }] of Object.entries(questions)) {
    const isAboutImage = questionKinds[type].needsImage === true;
    if (isAboutImage) report([id], `is a ${type}, which needs an image; a ${word} has none`);
  }
}

function checkFields(questions: Questions, { columns, word }: FieldOwner, report: Report): void {
  const owners = new Map<string, string>();
  const takenNames = new Set(["id", ...columns.map(({ name }) => name), "error"]);
  for (const { name, asked: question } of columnsOf(questions)) {
    const owner = takenNames.has(name) ? `the ${word} itself` : owners.get(name);
    owners.set(name, `the question ${question.id}`);
    if (owner === undefined) continue;
    report([question.id], `and ${owner} have the same field "${name}"; rename it`);
  }
}

function toKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
