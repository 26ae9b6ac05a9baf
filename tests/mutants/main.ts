import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import process, { platform } from "node:process";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { type Mutant, mutate, problemsOf, readMutants, root, seedsOf } from "./mutants.ts";

// Makes each mistake of the lists in a copy of the repository, runs the test that must notice it, and
// prints the mistakes that were not noticed.

/** Milliseconds for one test file, or for one seed. */
const LIMIT_MS = 10_000;
const PARALLEL = 2;

/** The end of a test; `broken` if it did not run. */
type End = "green" | "red" | "timed out" | "broken";

const problems = {
  red: "fails",
  broken: "does not run",
  "timed out": `takes longer than ${LIMIT_MS / 1000} s`,
};

/** A problem that the user can solve; its message is all that is printed. */
class UserError extends Error {}

/** Process ids of running tests. */
const running = new Set<number>();
const copies: string[] = [];
process.once("SIGINT", () => process.exit(130));
process.on("exit", () => {
  running.forEach(killGroup);
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});

try {
  process.exitCode = await testMutants(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function testMutants(args: string[]): Promise<number> {
  const all = readMutants();
  const mutants = chosenMutants(all, readOptions(args));
  const invalid = problemsOf(all);
  if (invalid.length > 0) throw new UserError(invalid.join("\n"));
  const queue = [...Map.groupBy(mutants, ({ killedBy }) => killedBy).entries()].toSorted(
    ([, a], [, b]) => b.length - a.length,
  );
  const counts = { killed: 0, "timed out": 0, survived: 0, "not tested": 0 };
  const report = (mutant: Mutant, outcome: keyof typeof counts, reason = "") => {
    counts[outcome] += 1;
    if (outcome === "killed") return;
    process.stdout.write(`${outcome}: ${mutant.id} (${mutant.file}) ${mutant.harm}${reason}\n`);
  };
  await Promise.all(
    Array.from({ length: Math.min(PARALLEL, queue.length) }, async () => {
      const copy = await copyRepository();
      for (let group = queue.shift(); group; group = queue.shift()) {
        const [killedBy, those] = group;
        const end = await runTest(killedBy, copy);
        if (end === "green") {
          for (const mutant of those) report(mutant, await testMutant(mutant, copy));
        } else {
          const reason = ` Without it, ${killedBy} ${problems[end]}.`;
          for (const mutant of those) report(mutant, "not tested", reason);
        }
      }
    }),
  );
  const total = counts.killed + counts["timed out"];
  process.stdout.write(
    `${total} of ${mutants.length} mutants killed, ${counts["timed out"]} of them timed out; ` +
      `${counts.survived} survived, ${counts["not tested"]} not tested\n`,
  );
  return total === mutants.length ? 0 : 1;
}

function readOptions(args: string[]) {
  const options = { changed: { type: "boolean" }, id: { type: "string", multiple: true } } as const;
  try {
    const { changed = false, id: ids = [] } = parseArgs({ args, options }).values;
    if (changed && ids.length > 0) throw new Error("--changed and --id exclude each other.");
    return { changed, ids };
  } catch (error) {
    throw new UserError((error as Error).message, { cause: error });
  }
}

function chosenMutants(all: readonly Mutant[], { changed, ids }: ReturnType<typeof readOptions>) {
  const unknown = ids.find((id) => !all.some((mutant) => mutant.id === id));
  if (unknown !== undefined) throw new UserError(`--id: there is no mutant "${unknown}".`);
  if (ids.length > 0) return all.filter(({ id }) => ids.includes(id));
  return changed ? changedMutants(all) : all;
}

/** Returns the mutants that this branch changes, or whose file or test it changes. */
function changedMutants(all: readonly Mutant[]): readonly Mutant[] {
  // A checkout of a pull request has no local main.
  const base = git("merge-base", "main", "HEAD") ?? git("merge-base", "origin/main", "HEAD");
  const changes = base === null ? null : git("diff", "--name-only", base);
  const added = git("ls-files", "--others", "--exclude-standard");
  if (changes === null || added === null)
    throw new UserError("--changed needs a git repository with the branch main and its history.");
  const files = new Set([changes, added].flatMap((list) => list.split("\n")));
  const before = readMutants((topic) => git("show", `${base}:${topic}`));
  return all.filter(
    (mutant) =>
      files.has(mutant.file) ||
      files.has(mutant.killedBy) ||
      !before.some((other) => isDeepStrictEqual(mutant, other)),
  );
}

/** Returns the output of git, or null if it fails. */
function git(...args: string[]): string | null {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 2 ** 27 } as const;
  const { error, status, stdout } = spawnSync("git", args, options);
  if (error !== undefined && "code" in error && error.code === "ENOENT")
    throw new UserError("--changed needs git, which is not installed.");
  return status === 0 ? stdout.trim() : null;
}

/** Copies the sources, and links what is installed, so a mistake never reaches the working tree. */
async function copyRepository() {
  const path = await mkdtemp(join(tmpdir(), "mutants-"));
  copies.push(path);
  const installed: string[] = [];
  await cp(root, path, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => {
      const name = basename(source);
      if (name === "node_modules") installed.push(relative(root, source));
      return !["node_modules", "dist", "coverage", ".git", ".turbo", ".vitest", ".env"].includes(
        name,
      );
    },
  });
  for (const modules of installed) await linkModules(modules, path);
  return path;
}

/** Links each package by itself: the links to the workspaces must lead into the copy. */
async function linkModules(modules: string, copy: string): Promise<void> {
  await mkdir(join(copy, modules), { recursive: true });
  for (const entry of await readdir(join(root, modules), { withFileTypes: true })) {
    const [from, to] = [join(root, modules, entry.name), join(copy, modules, entry.name)];
    if (entry.isSymbolicLink()) await cp(from, to, { verbatimSymlinks: true });
    else if (entry.isDirectory()) await symlink(from, to, "junction");
  }
}

async function testMutant(mutant: Mutant, copy: string) {
  const path = join(copy, mutant.file);
  const source = await readFile(path, "utf8");
  await writeFile(path, mutate(mutant, source));
  const end = await runTest(mutant.killedBy, copy);
  await writeFile(path, source);
  if (end === "red") return "killed";
  if (end === "green") return "survived";
  if (end === "broken") return "not tested";
  // A machine that is busy looks the same.
  return (await runTest(mutant.killedBy, copy)) === "green" ? "timed out" : "not tested";
}

async function runTest(killedBy: string, copy: string): Promise<End> {
  const seeds = seedsOf(killedBy);
  if (seeds.length === 0) return await runTestFile(killedBy, copy);
  for (const seed of seeds) {
    const end = await runSeed(seed, copy);
    if (end !== "green") return end;
  }
  return "green";
}

async function runTestFile(file: string, copy: string): Promise<End> {
  const output = join(copy, "node_modules/.mutants.json");
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const args = ["run", `./${file}`, "--bail", "1", "--reporter", "json", "--outputFile", output];
  // As the script `test:repository`.
  if (file.startsWith("tests/")) args.push("--experimental.viteModuleRunner");
  await rm(output, { force: true });
  const { code } = await runNode([vitest, ...args], copy);
  if (code === undefined) return "timed out";
  const report = await readFile(output, "utf8").catch(() => "{}");
  const { numTotalTests = 0 } = JSON.parse(report) as { numTotalTests?: number };
  // Without this, a mistake that keeps the file from loading would count.
  if (numTotalTests === 0) return "broken";
  return code === 0 ? "green" : "red";
}

async function runSeed(seed: string, copy: string): Promise<End> {
  const { scripts = {} } = JSON.parse(await readFile(join(copy, "package.json"), "utf8")) as {
    scripts?: Record<string, string>;
  };
  const [, program] = /^node (\S+)$/.exec(scripts["simulate"] ?? "") ?? [];
  if (program === undefined)
    throw new UserError("package.json has no script simulate that starts a program with node.");
  const args = [program, "--seed", seed, "--minutes", "5", "--part", "whole", "--json"];
  const { code, printed } = await runNode(args, copy);
  if (code === undefined) return "timed out";
  if (!/"failed"|^The simulation failed /m.test(printed)) return "broken";
  return code === 0 ? "green" : "red";
}

/** Runs a program; without a `code` if it took longer than the limit. */
async function runNode(args: readonly string[], cwd: string) {
  // With its own process group: a worker in an endless loop outlives the program that started it.
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    detached: platform !== "win32",
  });
  const { pid = 0 } = child;
  running.add(pid);
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const limit = AbortSignal.timeout(LIMIT_MS);
  const exit = once(child, "exit", { signal: limit }).catch(() => []);
  const [code] = (await exit) as (number | null)[];
  killGroup(pid);
  running.delete(pid);
  const isLate = limit.aborted && code === undefined;
  return { code: isLate ? undefined : (code ?? 1), printed: (await printed).join("\n") };
}

function killGroup(pid: number): void {
  // Windows knows no groups of processes.
  if (platform === "win32") spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"]);
  else {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // All of its processes have ended.
    }
  }
}
