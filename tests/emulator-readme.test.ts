import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEmulator } from "evaluator-emulator";
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

test("each address answers the line of curl that the README shows for it", async () => {
  const lines = readCodeBlocks("packages/evaluator-emulator/README.md", "sh")
    .flatMap((block) => block.split("\n"))
    .filter((line) => line.startsWith("curl "));
  expect(lines).toHaveLength(17);
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { origin } = await emulator.listen();
  // In one shell, in order: the id of the first answer is what a later line asks for.
  const script = [
    "set -e",
    ...lines.map((line) => {
      const command = line.replace("http://127.0.0.1:8787", origin).replace(/^curl/, "curl -sSf");
      const keep = line.includes("/evaluation-model") ? " | tee answer.json" : "";
      return `${command}${keep}; echo`;
    }),
  ].join("\n");
  const readId = `GENERATION_ID=$(grep -o 'gen_[0-9A-Z]*' answer.json | head -1)`;
  const folder = await mkdtemp(join(tmpdir(), "curl-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(
    join(folder, "lines.sh"),
    script.replace(/^(.*\/v1\/generation)/m, (line) => `${readId}\n${line}`),
  );
  const { exitCode, stdout, stderr } = await runCommand("bash lines.sh", { cwd: folder });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(answers.map((answer) => Object.keys(answer)[0])).toEqual([
    "answers",
    "answers",
    "content",
    "object",
    "data",
    "models",
    "balance",
    "data",
    "results",
    "model",
    "models",
    "faults",
    "faults",
    "faults",
    "tier",
    "requests",
    undefined,
  ]);
});
