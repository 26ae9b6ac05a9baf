import { closest, distance } from "fastest-levenshtein";
import { findNodeAtLocation, type Node } from "jsonc-parser";
import {
  type KindName,
  type Question,
  questionKinds,
  questionSchema,
  type Questions,
} from "evaluator-client";
import { columnsOf } from "../columns/columns.ts";
import type { RecordSource } from "../input/record-source.ts";

/** A place in JSON: keys and indexes from the root. */
export type JsonPath = readonly (string | number)[];

/** A problem in questions: the place, the problem and the remedy. */
export interface QuestionProblem {
  readonly path: JsonPath;
  readonly what: string;
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

/** Returns the problems in the questions of a file. */
export function findProblems(json: unknown, source: RecordSource): QuestionProblem[] {
  if (!isObject(json)) {
    return [{ path: [], what: "is no object; write { question id: question }" }];
  }
  const entries = Object.entries(json);
  if (entries.length === 0) return [{ path: [], what: "holds no question; write at least one" }];
  const problems = entries.flatMap(([id, question]) => problemsOf(id, question));
  return problems.length === 0 ? clashesOf(json as Questions, source) : problems;
}

function problemsOf(id: string, question: unknown): QuestionProblem[] {
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

function emptyProblems(id: string, { instructions }: Question): QuestionProblem[] {
  if (/\S/.test(instructions)) return [];
  return [{ path: [id, "instructions"], what: `is empty; ${howTo.instructions}` }];
}

function sizeProblems(id: string, question: Question): QuestionProblem[] {
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
function clashesOf(questions: Questions, { columns, word }: RecordSource): QuestionProblem[] {
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

/** Returns the repeated keys of objects; only the last value would be used. */
export function findRepeatedKeys(root: Node): readonly RepeatedKey[] {
  const repeated: RepeatedKey[] = [];
  const look = (node: Node | undefined, path: JsonPath) => {
    if (node?.type !== "object") return;
    const seen = new Set<string>();
    for (const [key, value] of (node.children ?? []).map(({ children = [] }) => children)) {
      if (key === undefined) continue;
      const name = String(key.value);
      const inside = [...path, name];
      if (seen.has(name)) repeated.push({ path: inside, offset: key.offset });
      seen.add(name);
      // The options of a question are the deepest there are.
      if (inside.length < 3) look(value, inside);
    }
  };
  look(root, []);
  return repeated;
}

/** A repeated key, and its second place. */
interface RepeatedKey {
  readonly path: JsonPath;
  readonly offset: number;
}

/** Returns the offset of a place in a text: of its key, or of the object around a missing key. */
export function offsetOf(root: Node, path: JsonPath): number {
  const node = findNodeAtLocation(root, [...path]);
  if (node === undefined) return path.length === 0 ? 0 : offsetOf(root, path.slice(0, -1));
  return node.parent?.type === "property" ? node.parent.offset : node.offset;
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
