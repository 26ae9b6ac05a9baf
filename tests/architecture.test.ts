import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

/** Returns the paths that the plan names: from the root, else from the folder last named. */
function namedPaths(): string[] {
  const plan = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  let folder = "";
  const paths: string[] = [];
  for (const [, name = ""] of plan.matchAll(/`([^`\n*]+)`/g)) {
    if (/^(?:packages|apps)\/[\w-]+\/src$/.test(name)) folder = name;
    if (!/^[\w./-]+(?:\.(?:ts|md)|\/)$/.test(name)) continue;
    paths.push(existsSync(join(root, name)) ? name : join(folder, name));
  }
  return paths;
}

test("the plan names only files and folders that exist", () => {
  const paths = namedPaths();
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(paths.length).toBeGreaterThan(35);
});

// The doc comment that ends right above, if any, and the name.
const exportedFunction =
  /(?:^\/\*\*((?:[^*]|\*(?!\/))*)\*\/\n)?^export (?:async )?function\*? ?(\w+)/gm;
/** Words that end as a verb does and are none, and verbs that say less than another. */
const noVerbs = new Set(
  "This Gives Says Tells Numbers Requests Tokens Milliseconds Handlers".split(" "),
);

/** Returns the exported functions of a file whose doc sentence does not begin with a verb. */
function functionsWithoutVerb(path: string): string[] {
  const sentences = new Map<string, string>();
  for (const [, doc = "", name = ""] of readFileSync(join(root, path), "utf8").matchAll(
    exportedFunction,
  )) {
    // Of several signatures the first one has the sentence.
    if (!sentences.has(name)) sentences.set(name, doc.replace(/^[\s*]+/, ""));
  }
  return [...sentences].flatMap(([name, sentence]) => {
    const [word = ""] = sentence.split(/[\s,]/, 1);
    const isVerb = /^[A-Z][a-z]+s$/.test(word) && !noVerbs.has(word);
    return isVerb ? [] : [`${path} ${name}: ${word}`];
  });
}

test("the doc sentence of every exported function begins with a verb, such as Returns", () => {
  const sources = ["{apps,packages}/*/{src,tests}/**/*.ts", "{fixtures,scripts,tests}/**/*.ts"];
  const files = globSync(sources, { cwd: root, exclude: ["**/node_modules"] });
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap(functionsWithoutVerb)).toEqual([]);
});
