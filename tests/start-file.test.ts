import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, expect, test } from "vitest";
import { startFile } from "../scripts/packed-package.ts";
import { runCommand } from "./run-command.ts";

const manifest = { name: "evaluator-some", version: "1.0.0", engines: { node: ">=22.19" } };
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "start-"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "start-main.js"), startFile("main.js", manifest));
  await writeFile(join(folder, "main.js"), 'import "node:fs"; console.log("started");');
  return () => rm(folder, { recursive: true, force: true });
});

/** Runs the file in a process that says it is of some versions. */
async function startOn(versions: object) {
  const other = `Object.defineProperty(process, "versions", { value: ${JSON.stringify(versions)} })`;
  await writeFile(join(folder, "other.cjs"), other);
  return await runCommand(`"${process.execPath}" -r ./other.cjs start-main.js`, { cwd: folder });
}

test.each(["20.20.2", "22.18.9", "18.0.0"])("Node %s gets one sentence", async (node) => {
  const stderr = `evaluator-some needs Node 22.19 or later, and this is Node ${node}.\n`;
  expect(await startOn({ node })).toEqual({ exitCode: 1, stdout: "", stderr });
});

test.each([{ node: "22.19.0" }, { node: "24.0.0" }, { node: "20.0.0", bun: "1.4.5" }])(
  "the program starts on %o",
  async (versions) => {
    const started = { exitCode: 0, stdout: "started\n", stderr: "" };
    expect(await startOn(versions)).toEqual(started);
  },
);

test("a package that does not promise its oldest Node is not built", () => {
  expect(() => startFile("main.js", { ...manifest, engines: { node: "24" } })).toThrow(
    'evaluator-some has no engines.node such as ">=22.19".',
  );
});
