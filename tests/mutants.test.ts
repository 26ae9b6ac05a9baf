import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutate, problemsOf, readMutants, root } from "./mutants/mutants.ts";
import { runCommand } from "./run-command.ts";

test("each mutant applies to its file once, and its test exists", () => {
  expect(problemsOf(readMutants())).toEqual([]);
});

const declaredNames = {
  env: { builtin: true, browser: true, node: true },
  categories: { correctness: "off" },
  rules: { "no-undef": "error" },
};

test("each mutant names only what its file declares, since each test fails otherwise", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "mutants-"));
  for (const mutant of readMutants()) {
    const source = await readFile(join(root, mutant.file), "utf8");
    await writeFile(join(folder.path, `${mutant.id}.ts`), mutate(mutant, source));
  }
  await writeFile(join(folder.path, "oxlint.json"), JSON.stringify(declaredNames));
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
  const command = `node ${oxlint} --config oxlint.json --format unix .`;
  const { exitCode, stdout } = await runCommand(command, { cwd: folder.path });
  expect([exitCode, stdout.trim()]).toEqual([0, ""]);
});

const valid = {
  id: "its-name",
  file: "tests/mutants/mutants.ts",
  before: "function readSource",
  after: "function readTwice",
  killedBy: "tests/mutants.test.ts",
  harm: "A user is harmed.",
};

test.each([
  [{}, []],
  [{ killedBy: "simulate:17,4711" }, []],
  [
    { before: "readNothing" },
    ['does not apply: its "before" occurs 0 times in tests/mutants/mutants.ts'],
  ],
  [
    { before: "export" },
    [expect.stringMatching(/ does not apply: its "before" occurs \d+ times /)],
  ],
  [{ before: "" }, [expect.stringContaining("occurs 0 times")]],
  [{ after: valid.before }, ["changes nothing"]],
  [{ after: "function (" }, [expect.stringContaining("is no TypeScript: ")]],
  [{ file: "no.ts" }, ["names no.ts, which does not exist"]],
  [
    { killedBy: "no.test.ts" },
    [expect.stringContaining("is killed by no.test.ts, which is neither")],
  ],
  [{ killedBy: valid.file }, [expect.stringContaining("is killed by")]],
  [{ killedBy: "simulate:" }, [expect.stringContaining("is killed by simulate:")]],
  [{ id: "its name" }, ["has an id that is not in kebab case"]],
  [{ harm: "" }, ["has a harm that is no sentence"]],
  [{ note: "" }, ["has other keys than id,file,before,after,killedBy,harm"]],
])("the change %o of a mutant is reported", (change, problems) => {
  const mutant = { ...valid, ...change };
  const { id } = mutant;
  expect(problemsOf([mutant])).toEqual(
    problems.map((problem) =>
      typeof problem === "string" ? `The mutant "${id}" ${problem}.` : problem,
    ),
  );
});

test("two mutants have two ids", () => {
  expect(problemsOf([valid, valid])).toEqual([
    'The mutant "its-name" has the id of another mutant.',
  ]);
});
