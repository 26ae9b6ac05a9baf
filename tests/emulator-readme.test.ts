import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createEmulator, type EmulatorOptions, type EngineName } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { readCodeBlocks, runCommand } from "./run-command.ts";

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
  const { stdout, stderr } = await runCommand("node program.mjs", {
    cwd: folder,
    env,
  });
  expect({ stdout, stderr }).toEqual({ stdout: "local/lexical-1 0.55\n", stderr: "" });
});

/** Returns the lines of curl that the README shows, each with the engine of the comment above it. */
function curlLines() {
  const blocks = readCodeBlocks("packages/evaluator-emulator/README.md", "sh");
  let engine: EngineName | null = null;
  return blocks.flatMap((block) =>
    block.split("\n").flatMap((line) => {
      if (line.startsWith("# "))
        engine = (/--engine ([\w.]+)/.exec(line)?.[1] as EngineName) ?? null;
      return line.startsWith("curl ") ? [{ line, engine }] : [];
    }),
  );
}

/** Runs lines of curl in one shell, in order, and returns the first field of each answer. */
async function firstFields(lines: readonly string[], options: EmulatorOptions = {}) {
  const emulator = createEmulator(options);
  onTestFinished(() => emulator.close());
  const { origin } = await emulator.listen();
  const folder = await mkdtemp(join(tmpdir(), "curl-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = lines.map((line) => {
    const command = line.replace("http://127.0.0.1:8787", origin).replace(/^curl/, "curl -sSf");
    // The id of the first answer is what a later line asks for.
    if (line.includes("/evaluation-model")) return `${command} | tee answer.json; echo`;
    const readId = `GENERATION_ID=$(grep -o 'gen_[0-9A-Z]*' answer.json | head -1)\n`;
    return `${line.includes("$GENERATION_ID") ? readId : ""}${command}; echo`;
  });
  await writeFile(join(folder, "lines.sh"), ["set -e", ...script].join("\n"));
  const { exitCode, stdout, stderr } = await runCommand("bash lines.sh", { cwd: folder });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => Object.keys(JSON.parse(line) as object)[0]);
}

test("each address answers the line of curl that the README shows for it", async () => {
  const lines = curlLines().filter(({ engine }) => engine === null);
  expect(await firstFields(lines.map(({ line }) => line))).toEqual(
    [
      ["answers", "answers", "content", "object", "data", "models"],
      ["balance", "data", "results", "model", "models", "model", "id"],
      ["faults", "faults", "faults", "tier", "requests", undefined],
    ].flat(),
  );
});

test.each([
  ["openai", ["id", "model"]],
  ["vllm", ["tokens"]],
  ["sglang", ["text"]],
  ["llama.cpp", ["prompt", "content"]],
  ["ollama", ["version"]],
] as const)("so does each of %s", async (engine, fields) => {
  const lines = curlLines().filter((line) => line.engine === engine);
  expect(
    await firstFields(
      lines.map(({ line }) => line),
      { engine },
    ),
  ).toEqual(fields);
});
