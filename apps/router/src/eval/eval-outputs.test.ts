import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runToExitCode } from "evaluator-kit";
import { createEmulator } from "evaluator-emulator";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { evaluatorRouter } from "../program.ts";
import { servicesOver } from "../testing/test-router.ts";
import { decidePrompts } from "./decided-prompts.ts";

test.each([
  ["--out", "mine.txt", "mine.txt exists, and this command did not write it"],
  ["--out", "prompts.ndjson", "prompts.ndjson is the input file"],
  ["--decisions", "mine.txt", "mine.txt exists, and this command did not write it"],
  ["--decisions", "prompts.ndjson", "prompts.ndjson exists, and this command did not write it"],
])("%s %s is refused before any prompt is sent", async (option, name, problem) => {
  const folder = await temporaryFolder();
  const text = '{"prompt":"hello","tier":"nano"}\n';
  for (const file of ["prompts.ndjson", "mine.txt"]) await writeFile(join(folder, file), text);
  const context = createTestContext({ cwd: folder });
  const [program, options] = evaluatorRouter;
  const words = ["eval", "prompts.ndjson", option, name];
  expect(await runToExitCode(program, words, { ...options, context })).toBe(1);
  expect(context.printed.stderr).toContain(problem);
  expect(await readFile(join(folder, name), "utf8")).toBe(text);
  expect((await readdir(folder)).toSorted()).toEqual(["mine.txt", "prompts.ndjson"]);
});

test("a page in the place of the paid decisions is refused before any prompt is sent", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "prompts.ndjson"), '{"prompt":"hello","tier":"nano"}\n');
  const context = createTestContext({ cwd: folder });
  const [program, options] = evaluatorRouter;
  const words = ["eval", "prompts.ndjson", "--out", "one", "--decisions", "./one"];
  expect(await runToExitCode(program, words, { ...options, context })).toBe(1);
  expect(context.printed.stderr).toContain("one is named for two files; name another.");
  expect(await readdir(folder)).toEqual(["prompts.ndjson"]);
});

test("a decision that cannot be kept ends the command, so that no more of them are paid", async () => {
  const cwd = await temporaryFolder();
  const [prompts, kept] = [join(cwd, "prompts.ndjson"), join(cwd, "kept")];
  const line = (at: number) => `${JSON.stringify({ prompt: `prompt ${at}`, tier: "nano" })}\n`;
  await writeFile(prompts, Array.from({ length: 40 }, (_, at) => line(at)).join(""));
  await mkdir(kept);
  const emulator = createEmulator();
  let requests = 0;
  const services = servicesOver(async (input, init) => {
    requests += 1;
    await rm(kept, { recursive: true, force: true });
    return await emulator.fetch(new Request(input, init));
  });
  const run = { services, context: createTestContext({ cwd }) };
  const deciding = decidePrompts(prompts, join(kept, "decisions.ndjson"), run);
  await expect(deciding).rejects.toThrow(/^Cannot write .*decisions\.ndjson: no such file/);
  expect(requests).toBeLessThan(20);
});
