import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Environment, runToExitCode } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { evaluatorRouter } from "../program.ts";

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
    const all = ["eval", "prompts.ndjson", "--draws", "20", ...words];
    const [program, options] = evaluatorRouter;
    const exitCode = await runToExitCode(program, all, { ...options, context });
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
    "80 prompts of prompts.ndjson. Decided by the emulator (as local/lexical-1 and typesafe-ai/jev), not by a model: these figures describe no model.",
  );
  expect(first.stdout).toContain("Asked now: 80");
  const again = await run();
  expect(again.stdout).toContain(
    "Decided by the emulator (as local/lexical-1 and typesafe-ai/jev)",
  );
  expect(again.stdout).toContain("Asked now: 0 ($0.000000); kept from before: 80.");
  const figures = (text: string) => text.slice(text.indexOf("Right tier by row"));
  expect(figures(again.stdout)).toBe(figures(first.stdout));
  const page = await readFile(join(folder, "prompts.eval.html"), "utf8");
  expect(page).toContain("Is the routing any good?");
  expect(page).not.toMatch(/<script|src=/);
  const [, costs = ""] = page.split(/<figcaption>\s*Quality against cost/);
  const names = [...costs.matchAll(/class="name"\s+x="[^"]+"\s+y="([^"]+)"/g)];
  const heights = names.map(([, y]) => Number(y));
  expect(heights).toHaveLength(5);
  for (const [at, y] of heights.slice(1).entries()) {
    expect(y - (heights[at] ?? 0)).toBeGreaterThanOrEqual(14); // no name on another
  }
  const shown = await openSharedPage();
  onTestFinished(() => shown.close());
  await shown.goto(pathToFileURL(join(folder, "prompts.eval.html")).href);
  expect(await problemsOn(shown)).toEqual([]);
  expect(await shown.locator(".dominated title").allTextContents()).toContainEqual(
    expect.stringMatching(/^random, at equal cost: quality 0\.\d+, cost /),
  );
  const kept = await readFile(join(folder, "prompts.decisions.ndjson"), "utf8");
  expect(kept).not.toMatch(/payroll|Australia/); // no text of a prompt
});

test("the forty follow-ups are judged with the figures of the docs", async () => {
  const { first } = await evaluate(await readLines("follow-ups.ndjson"));
  expect(first.stdout).toContain("Right 65.0 %");
  expect(first.stdout).toMatch(/too high 15\.0 % .*too low 20\.0 % /);
});

test("scores of models say what is right, and costs what it costs", async () => {
  const lines = ["hi", "Write a complete payroll system, free of errors"].map((prompt, hard) => ({
    prompt,
    scores: { small: hard === 0 ? 1 : 0, large: 1 },
    costs: { large: 10, small: 1 },
  }));
  const { first } = await evaluate(lines, { words: ["--json"] });
  expect(JSON.parse(first.stdout)).toMatchObject({
    n: 2,
    costBasis: "from the file",
    right: { share: 1 },
    ways: [
      { name: "as routed", quality: { value: 1 }, cost: { value: 5.5 } },
      { name: "always the cheapest", quality: { value: 0.5 }, cost: { value: 1 } },
      { name: "always frontier", quality: { value: 1 }, cost: { value: 10 } },
      { name: "random, at equal cost", quality: { value: 0.75 }, cost: { value: 5.5 } },
      { name: "oracle", quality: { value: 1 }, cost: { value: 5.5 } },
    ],
    confusion: null,
    orders: [
      { name: "the evaluation model", apgr: { value: 0.75 } },
      { apgr: { value: 0.5 } },
      {},
      { name: "labels alone, held out" },
    ],
  });
});

const small = { prompt: "a", scores: { small: 1, large: 1 }, costs: { small: 3, large: 2 } };
const large = { prompt: "b", scores: { large: 1, small: 0 }, costs: { small: 1, large: 9 } };

test("models have one order in the whole file, by their mean costs", async () => {
  const { first } = await evaluate([large, small], { words: ["--json"] });
  const { ways } = JSON.parse(first.stdout) as { ways: object[] };
  expect(ways[1]).toMatchObject({ quality: { value: 0.5 }, cost: { value: 2 } });
  expect(ways[2]).toMatchObject({ quality: { value: 1 }, cost: { value: 5.5 } });
});

test("a page that cannot be written is named", async () => {
  const { first } = await evaluate([small], { words: ["--out", "missing/page.html"] });
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toMatch(/^Cannot write \S+page\.html: no such .*Check the path\.\n$/);
});

test("without costs models have the order in which the file first names them", async () => {
  const lines = [small, large].map(({ prompt, scores }) => ({ prompt, scores }));
  const { first } = await evaluate(lines, { words: ["--json"] });
  const { ways } = JSON.parse(first.stdout) as { ways: object[] };
  expect(ways[1]).toMatchObject({ quality: { value: 0.5 } });
  expect(ways[2]).toMatchObject({ quality: { value: 1 } });
});

test("lines with costs beside lines without are refused before anything is asked", async () => {
  const { first } = await evaluate([small, { prompt: "b", tier: "nano" }]);
  expect(first).toMatchObject({ exitCode: 1, stdout: "" });
  expect(first.stderr).toContain("1 of 2 labelled prompts have costs. Give all of them costs,");
});

test("the same prompt twice is one label for the advice", async () => {
  const lines = Array.from({ length: 60 }, (_, at) => ({ ...small, prompt: `prompt ${at % 30}` }));
  const { first } = await evaluate(lines);
  expect(first.stdout).toContain("inconclusive: too few different labelled prompts (30).");
});

test("no advice, page or figure recommends a least confidence", async () => {
  const { folder, first } = await evaluate(await readLines("prompts.ndjson"));
  const page = await readFile(join(folder, "prompts.eval.html"), "utf8");
  for (const text of [first.stdout, page]) {
    expect(text).toContain("These labels are inconclusive: ");
    expect(text).not.toMatch(/it holds|was best|ROUTER_MIN_CONFIDENCE/);
  }
});

test("scores of another scale are divided by its end, and the others are named", async () => {
  const scaled = { prompt: "hi", scores: { small: 2, large: 8 }, costs: { small: 1, large: 9 } };
  const { first } = await evaluate([scaled], { words: ["--json"] });
  expect(first.stderr).toBe("Scores are divided by 10, the end of their scale.\n");
  const { ways } = JSON.parse(first.stdout) as { ways: object[] };
  expect(ways[1]).toMatchObject({ quality: { value: 0.2 } });
  for (const large of [-1, 101]) {
    const line = { ...scaled, scores: { small: 0, large } };
    expect((await evaluate([small, line])).first.stderr).toContain(
      "line 2: scores.large is not on a scale from 0 to 1, 5, 10 or 100.",
    );
  }
});

test("labels of messages that the log does not have are named", async () => {
  const lines = [small, { requestId: "gone\u001b[31m", feedback: "nano" }];
  const { first } = await evaluate(lines);
  expect(first).toMatchObject({ exitCode: 0 });
  expect(first.stderr).toContain(
    "Not used: 1 label of messages that have no decision in the file (",
  );
  expect(first.stderr).not.toContain("\u001b");
});

test("each category has a row", async () => {
  const lines = [small, { ...large, category: "<hard>" }, { ...small, category: "easy" }];
  const { folder, first } = await evaluate(lines);
  expect(first.stdout).toMatch(/<hard> +1 +/);
  const page = await readFile(join(folder, "prompts.eval.html"), "utf8");
  expect(page).toContain("&lt;hard&gt;");
  expect(page).not.toContain("Right tier by row"); // two models on four tiers
});

test("an emulator that runs as its own process is named", async () => {
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  const env = { AI_GATEWAY_API_KEY: "local", EVALUATOR_BASE_URL: gatewayBaseUrl };
  const { run, first } = await evaluate([{ prompt: "hi", tier: "nano" }], {
    env,
    words: ["--json"],
  });
  const decider = { modelId: "typesafe-ai/jev", isEmulated: true };
  expect(JSON.parse(first.stdout)).toMatchObject({ decider, asked: { paid: 1 } });
  expect(JSON.parse((await run()).stdout)).toMatchObject({ decider, asked: { kept: 1 } });
});

test.each([
  [{}, "Decided by a model without a name."],
  [{ evaluatorModelId: "acme/judge", wire: "gateway https://a" }, "Decided by acme/judge."],
  [
    { evaluatorModelId: "acme/judge", wire: "emulator gateway https://a" },
    "Decided by the emulator (as acme/judge), not by a model: these figures describe no model",
  ],
])("the decision log says who decided: %j", async (fields, words) => {
  const probabilities = { nano: 0.9, fast: 0.1, balanced: 0, frontier: 0 };
  const record = { requestId: "a", tierChosen: "nano", probabilities, confidence: 0.8, ...fields };
  const { first } = await evaluate([record, { requestId: "a", feedback: "balanced" }]);
  expect(first.stdout).toContain(words);
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
  expect(first.stdout).toContain("1 prompt of prompts.ndjson.");
  expect(first.stdout).toContain("Asked now: 0 ($0.000000); kept from before: 0.");
  expect(first.stdout).toContain("too low 100.0 %");
});

test.each([
  [null, "too low 0.0 %"],
  [{ act: null, why: "below-threshold" }, "too low 0.0 %"],
  [{ act: "nano", evidence: {} }, "too low 100.0 %"],
])("a logged promise of %j is kept by the policy: %s", async (promise, words) => {
  const probabilities = { nano: 0.9, fast: 0.1, balanced: 0, frontier: 0 };
  const record = { requestId: "a", tierChosen: "nano", probabilities, confidence: null, promise };
  const env = { ROUTER_MIN_CONFIDENCE: "0.95" };
  const { first } = await evaluate([record, { requestId: "a", feedback: "fast" }], { env });
  expect(first.stdout).toContain(words);
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
  [
    { prompt: "secret words", scores: { one: 1, two: 1 }, costs: { one: 1 } },
    "line 1: has costs, but not of all models that it scores.",
  ],
  [
    { prompt: "secret words", tier: "nano", costs: { one: 1 } },
    "line 1: has costs, but not of all models that it scores.",
  ],
  [
    { messages: [{ role: "system", content: "secret words" }], tier: "nano" },
    "line 1: messages has no message of the user.",
  ],
])("a line that is none is named, and its text is not: %j", async (line, words) => {
  const { first } = await evaluate([line]);
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toContain(words);
  expect(first.stderr).not.toContain("secret words");
});
