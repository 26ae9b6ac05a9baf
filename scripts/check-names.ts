import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseSync } from "oxc-parser";

/** The most names of a habit, in percent of their sort, and the least mean length of all names. */
const LIMITS = { participles: 1, functionsOf: 4, meanLength: 7.8 };

/** Participles without -ed. */
const irregular = new Set(
  "begun bought broken brought built chosen done drawn driven fallen found forgotten given gone grown held hidden kept known left lost made meant met paid proven said seen sent shown sold spent spread stolen taken thought thrown told understood written".split(
    " ",
  ),
);
const nouns = new Set("bed breed feed need seed speed".split(" "));

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** A declared name: of a function, or of a variable, parameter or property. */
interface Name {
  readonly name: string;
  readonly path: string;
  /** Where it begins in the text. */
  readonly start: number;
  readonly isFunction: boolean;
}

type Declaration = readonly [target: unknown, value?: unknown];

/**
 * Returns the names that a node declares itself, each with the value that it names. Those of an object literal are
 * declared by its type, or by the service that reads it.
 */
function declaredBy(node: Node): readonly Declaration[] {
  const { id, init, key, value, params, elements, properties } = node;
  const listed = [params, elements].flatMap((each) => (Array.isArray(each) ? each : []));
  const parts = listed.map((each): Declaration => [each]);
  const fields = (Array.isArray(properties) ? properties : []) as Node[];
  switch (node.type) {
    case "VariableDeclarator":
      return [[id, init]];
    case "FunctionDeclaration":
      return [[id, node], ...parts];
    case "PropertyDefinition":
      return [[key, value]];
    case "MethodDefinition":
      return node["kind"] === "method" ? [[key, value]] : [];
    case "TSMethodSignature":
      return [[key, node], ...parts];
    case "TSPropertySignature":
      return [[key, (node["typeAnnotation"] as Node | null)?.["typeAnnotation"]]];
    case "RestElement":
      return [[node["argument"]]];
    case "ObjectPattern":
      return fields.map((each) => [each["value"]]);
    case "ArrayExpression":
      return [];
    default:
      return parts;
  }
}

function* namesIn(node: unknown, path: string): Generator<Name> {
  if (Array.isArray(node)) for (const each of node) yield* namesIn(each, path);
  if (typeof node !== "object" || node === null || !("type" in node)) return;
  for (const [target, value] of declaredBy(node as Node)) {
    const { type, left } = Object(target) as Node;
    const identifier = (type === "AssignmentPattern" ? left : target) as Node | null;
    if (!/^(?:Private)?Identifier$/.test(identifier?.type ?? "")) continue;
    const name = identifier?.["name"] as string;
    const isFunction = /Function|TSMethodSignature/.test((Object(value) as Node).type ?? "");
    if (!name.startsWith("_")) yield { name, path, start: identifier?.start ?? 0, isFunction };
  }
  for (const child of Object.values(node)) yield* namesIn(child, path);
}

function isParticiple(name: string): boolean {
  return irregular.has(name) || (/^[a-z]{2,}[^e]ed$/.test(name) && !nouns.has(name));
}

const root = dirname(import.meta.dirname);
const read = (path: string) => readFileSync(join(root, path), "utf8");
const names = globSync("{apps,packages}/*/src/**/*.ts", { cwd: root })
  .filter((path) => !/^packages\/simulation|\/(?:testing|conformance)\/|\.test|\.d\.ts$/.test(path))
  .flatMap((path) => Array.from(namesIn(parseSync(path, read(path)).program, path)));
const [functions, others] = [true, false].map((isFunction) =>
  names.filter((each) => each.isFunction === isFunction),
) as [Name[], Name[]];
const found = {
  participles: others.filter(({ name }) => isParticiple(name)),
  functionsOf: functions.filter(({ name }) => /[a-z0-9]Of$/.test(name)),
};
const shares = {
  participles: (100 * found.participles.length) / others.length,
  functionsOf: (100 * found.functionsOf.length) / functions.length,
};
const meanLength = names.reduce((sum, { name }) => sum + name.length, 0) / names.length;
process.stdout.write(
  `${shares.participles.toFixed(2)} % of ${others.length} variables and properties are bare participles (at most ${LIMITS.participles}); ${shares.functionsOf.toFixed(2)} % of ${functions.length} functions end in Of (at most ${LIMITS.functionsOf}); names have ${meanLength.toFixed(2)} letters (at least ${LIMITS.meanLength}).\n`,
);
for (const habit of ["participles", "functionsOf"] as const) {
  const isOver = shares[habit] > LIMITS[habit];
  if (!isOver && !process.argv.includes("--list")) continue;
  for (const { name, path, start } of found[habit]) {
    const line = read(path).slice(0, start).split("\n").length;
    process.stdout.write(`${path}:${line} ${name}\n`);
  }
  if (isOver) process.exitCode = 1;
}
if (meanLength < LIMITS.meanLength) process.exitCode = 1;
