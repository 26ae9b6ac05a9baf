import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCodeBlocks } from "./read-readme.ts";
import { runCommand } from "./run-command.ts";

const root = dirname(import.meta.dirname);

test("the emulator's snippet for msw answers createEvaluator() as it is written", async () => {
  const blocks = readCodeBlocks("packages/evaluator-emulator/README.md", "ts");
  const snippet = blocks.find((block) => block.includes("setupServer"));
  const program = `${snippet}
    const { answers, modelId } = await evaluator.evaluate({
      state: "you won the lottery",
      questions: { scam: { type: "boolean", instructions: "Is it a scam?" } },
    });
    console.log(modelId, answers.scam.probability);
    server.close();`;
  const cache = `${root}/node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${cache}/snippet-`);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "program.mjs"), program);
  const env = { AI_GATEWAY_API_KEY: "any-key" };
  const { stdout, stderr } = await runCommand("node --import tsx program.mjs", {
    cwd: folder,
    env,
  });
  expect({ stdout, stderr }).toEqual({ stdout: "local/lexical-1 0.55\n", stderr: "" });
});
