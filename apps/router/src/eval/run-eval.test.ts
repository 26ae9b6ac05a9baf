import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Environment, runToExitCode } from "evaluator-cli-kit";
import { createTestContext, temporaryFolder } from "evaluator-cli-kit/testing";
import { expect, test } from "vitest";
import { evalUsage, runEval } from "./run-eval.ts";

const fixtures = join(import.meta.dirname, "../../../../fixtures/routing");

/** Runs the command in a folder of its own, and returns what it printed. */
async function evaluate(
  lines: readonly object[],
  { env = {}, words = [] }: { env?: Environment; words?: string[] } = {},
) {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "prompts.ndjson"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  const run = async () => {
    const context = createTestContext({ env, cwd: folder });
    const all = ["prompts.ndjson", "--draws", "20", ...words];
    const exitCode = await runToExitCode(runEval, all, {
      name: "The evaluation",
      help: { command: "npm run router:eval --", usage: evalUsage },
      context,
    });
    return { exitCode, ...context.printed };
  };
  return { folder, run, first: await run() };
}

async function readLines(name: string): Promise<object[]> {
  const text = await readFile(join(fixtures, name), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
}

test("the sample that ships is read, decided and drawn, and a second run asks nothing", async () => {
  const { folder, run, first } = await evaluate(await readLines("prompts.ndjson"));
  expect(first).toMatchObject({ exitCode: 0, stderr: "" });
  expect(first.stdout).toContain(
    "80 prompts of prompts.ndjson. Decided by the local emulator, which compares words",
  );
  expect(first.stdout).toContain("Asked now: 80");
  const again = await run();
  expect(again.stdout).toContain("Asked now: 0 ($0.000000); kept from before: 80.");
  const figures = (text: string) => text.slice(text.indexOf("Right tier by row"));
  expect(figures(again.stdout)).toBe(figures(first.stdout));
  const page = await readFile(join(folder, "prompts.eval.html"), "utf8");
  expect(page).toContain("Is the routing any good?");
  expect(page).not.toMatch(/<script|src=/);
  const kept = await readFile(join(folder, "prompts.decisions.ndjson"), "utf8");
  expect(kept).not.toMatch(/payroll|Australia/); // no text of a prompt
});

test.each([
  ["last", "Right 47.5%"],
  ["turns", "Right 60.0%"],
  ["sticky", "Right 65.0%"],
])(
  "the forty follow-ups are judged with ROUTER_CONTEXT=%s as the docs say: %s",
  async (context, words) => {
    const lines = await readLines("follow-ups.ndjson");
    const { first } = await evaluate(lines, { env: { ROUTER_CONTEXT: context } });
    expect(first.stdout).toContain(words);
  },
);

test("scores of models say what is right, and costs what it costs", async () => {
  const lines = ["hi", "Write a complete payroll system, free of errors"].map((prompt, hard) => ({
    prompt,
    scores: { small: hard === 0 ? 1 : 0, large: 1 },
    costs: { large: 10, small: 1 },
  }));
  const { first } = await evaluate(lines, { words: ["--json"] });
  expect(JSON.parse(first.stdout)).toMatchObject({
    n: 2,
    costBasis: "as the file says",
    right: { share: 1 },
    ways: [
      { name: "as routed", quality: { value: 1 }, cost: { value: 5.5 } },
      { name: "always the cheapest", quality: { value: 0.5 }, cost: { value: 1 } },
      { name: "always frontier", quality: { value: 1 }, cost: { value: 10 } },
      {},
      {},
    ],
    orders: [{ name: "the evaluation model", apgr: { value: 0.75 } }, { apgr: { value: 0.5 } }, {}],
  });
});

test("the decision log with feedback is a file of prompts, and asks nothing", async () => {
  const probabilities = { nano: 0.9, fast: 0.1, balanced: 0, frontier: 0 };
  const record = {
    requestId: "a",
    outcome: "replied",
    tierChosen: "nano",
    probabilities,
    confidence: 0.8,
  };
  const lines = [record, { ...record, requestId: "b" }, { requestId: "a", feedback: "balanced" }];
  const { first } = await evaluate(lines);
  expect(first.stdout).toContain("1 prompts of prompts.ndjson.");
  expect(first.stdout).toContain("Asked now: 0 ($0.000000); kept from before: 0.");
  expect(first.stdout).toContain("too low 100.0%");
});

test.each([
  [{ prompt: "secret words" }, "line 1: has neither tier nor scores."],
  [{ tier: "nano" }, "line 1: has no prompt or messages."],
  [
    { prompt: "secret words", tier: "huge" },
    "line 1: tier is none of nano, fast, balanced, frontier.",
  ],
  [
    { prompt: "secret words", scores: { one: 1 } },
    "line 1: has scores of one model; two at least are compared.",
  ],
])("a line that is none is named, and its text is not: %j", async (line, words) => {
  const { first } = await evaluate([line]);
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toContain(words);
  expect(first.stderr).not.toContain("secret words");
});
