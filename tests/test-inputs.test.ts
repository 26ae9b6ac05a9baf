import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "./run-command.ts";

// A test that passed is not run again until what it reads has changed, so turbo must know all of it.
// Most of it turbo knows from what a package.json declares. Not declared is what would make a circle:
// the client's tests use the emulator and the fixtures, which declare the client for theirs. That, and
// files that tests name by their paths, are inputs in a turbo.json.

const root = dirname(import.meta.dirname);
const filesIn = (pattern: string, folder = "."): string[] =>
  globSync(pattern, { cwd: join(root, folder), exclude: ["**/{node_modules,dist}/**"] })
    .map((file) => posix.join(folder, file.replaceAll("\\", "/")))
    .filter((file) => statSync(join(root, file)).isFile());

const folderOf = new Map(
  filesIn("{{packages,apps}/*,fixtures}/package.json").map((path) => {
    const { name } = JSON.parse(readFileSync(join(root, path), "utf8")) as { name: string };
    return [name, posix.dirname(path)];
  }),
);

interface Task {
  readonly taskId: string;
  readonly package: string;
  readonly directory: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly dependencies: readonly string[];
}

/** Returns the files whose change makes turbo run a task again, besides those of the root's tasks. */
function inputsOf(taskId: string, tasks: ReadonlyMap<string, Task>): string[] {
  const { directory = "", inputs = {}, dependencies = [] } = tasks.get(taskId) ?? {};
  const others = dependencies.filter((id) => !id.startsWith("//"));
  return [
    ...Object.keys(inputs).map((path) => posix.join(directory, path)),
    ...others.flatMap((id) => inputsOf(id, tasks)),
  ];
}

/**
 * Returns the files of other folders that a workspace's tests import, and those they name by paths; of
 * a source all beside it, since it imports them.
 */
function filesNamedIn(workspace: string): string[] {
  const sources = filesIn("src/**/*.ts", workspace);
  const named = sources.flatMap((file) => namedIn(file, readFileSync(join(root, file), "utf8")));
  const targets = named.map((path) => path.replace(/\/$/, "").replace(/(\/src)\/.*/, "$1"));
  return [...new Set(targets)]
    .filter((path) => !/^\.(?:\.?$|\.\/)/.test(path) && !`${path}/`.startsWith(`${workspace}/`))
    .flatMap((path) => filesIn(`${path}/**`));
}

function namedIn(file: string, text: string): string[] {
  const imports = importsIn(text);
  if (!/\.test(?:-d)?\.ts$|\/testing\//.test(file)) return imports;
  const relative = literalsIn(text, /\.\.?\//).map((path) => posix.join(file, "..", path));
  const fromRoot = literalsIn(
    text,
    /\{?(?:packages|apps|fixtures|scripts|docs|examples|tests)\b[^"`]*\//,
  );
  return imports.concat(relative, fromRoot);
}

/** Returns what is written out between quotes and begins so, as far as it is known. */
function literalsIn(text: string, beginning: RegExp): string[] {
  const pattern = new RegExp(`["\`]((?:${beginning.source})[^"\`\\n]*)["\`]`, "g");
  return [...text.matchAll(pattern)].map(([, literal = ""]) =>
    literal.replace(/\/[^/]*\$\{.*/, ""),
  );
}

/** Returns where the workspaces are that a text imports: what is imported by name is in `src`. */
function importsIn(text: string): string[] {
  return literalsIn(text, /evaluator-/).flatMap((specifier) => {
    const [name = "", ...path] = specifier.split("/");
    const folder = folderOf.get(name);
    if (folder === undefined) return [];
    const own = posix.join(folder, ...path);
    return path.length > 0 && filesIn(`${own}/**`).length > 0 ? [own] : [`${folder}/src`];
  });
}

const { stdout } = await runCommand("node_modules/.bin/turbo run test --dry=json", { cwd: root });
const tasks = new Map(
  (JSON.parse(stdout) as { tasks: Task[] }).tasks.map((task) => [task.taskId, task]),
);

test.each([...folderOf])(
  "%s is tested again when a file changes that its tests read",
  (name, folder) => {
    const inputs = new Set(inputsOf(`${name}#test`, tasks));
    expect(inputs).toContain(`${folder}/package.json`);
    expect(filesNamedIn(folder).filter((file) => !inputs.has(file))).toEqual([]);
  },
);

test("nothing is tested again because the browser's unpacking read the whole repository", () => {
  const unpacking = [...tasks.values()].find(({ taskId }) => taskId === "//#unpack-browser");
  expect(Object.keys(unpacking?.inputs ?? {})).not.toContain("README.md");
});
