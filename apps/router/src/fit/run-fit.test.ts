import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Environment, runToExitCode, seededRandom } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { expect, onTestFinished, test } from "vitest";
import { evaluatorRouter } from "../program.ts";
import { defaultTierModels } from "../router-options.ts";
import { startProgram } from "../testing/start-program.ts";
import { printFit } from "./artifact.ts";
import { COLUMNS } from "./features.ts";

/** Runs router:fit in a folder with a file of labels. */
async function inFolder(lines: readonly object[]) {
  const folder = await temporaryFolder();
  const write = (name: string, values: readonly object[]) =>
    writeFile(join(folder, name), values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  await write("labels.ndjson", lines);
  const run = async (words: readonly string[], env: Environment = {}) => {
    const context = createTestContext({ env, cwd: folder });
    const [program, options] = evaluatorRouter;
    const exitCode = await runToExitCode(program, ["fit", ...words], { ...options, context });
    return { exitCode, ...context.printed };
  };
  return { folder, write, run, fit: () => run(["labels.ndjson", "--json"]) };
}

/** Prompts of which the small model fails those about proofs; the costs have the dear model first. */
function proofs({ n = 400, small = 0 } = {}) {
  const random = seededRandom(7);
  return Array.from({ length: n }, (_, at) => {
    const isHard = random() < 0.3;
    const prompt = `${isHard ? "prove the lemma" : "say hello to"} number ${at}`;
    return {
      id: `p${at}`,
      prompt,
      scores: { large: 1, small: isHard ? small : 1 },
      costs: { large: 20, small: 1 },
    };
  });
}

test("a fit promises a saving, is written, and decides like its labels", async () => {
  const { folder, run, fit } = await inFolder(proofs());
  const { exitCode, stdout, stderr } = await fit();
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const result = JSON.parse(stdout) as { promise: { saving: number }; sentence: string };
  expect(result).toMatchObject({
    verdict: "route",
    promise: { quality: 0.97, confidence: 0.95 },
    heldOut: { apgr: expect.any(Number), length: expect.any(Number) },
    artifact: "fit.json",
  });
  expect(result.promise.saving).toBeGreaterThan(0.5);
  expect(result.promise.saving).toBeLessThan(0.95 * 0.75);
  expect(result.sentence).toMatch(
    /^With [\d.]+: \d+ % cheaper, quality \S+ ± \S+ points; 95 % sure that it keeps 97 % of frontier's, for prompts like these\.$/,
  );
  const applied = await run(["apply", "fit.json", "labels.ndjson"]);
  const lines = applied.stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(400);
  const [id, tier] = [expect.any(String), expect.stringMatching(/^(nano|frontier)$/)];
  expect(JSON.parse(lines[0] ?? "")).toEqual({ id, tier, gain: expect.any(Number) });
  const text = await readFile(join(folder, "fit.json"), "utf8");
  expect(text).not.toContain("lemma"); // no text of a label
});

test("a fit that cannot be written is named", async () => {
  const { run } = await inFolder(proofs());
  const { exitCode, stderr } = await run(["labels.ndjson", "--out", "missing/fit.json"]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^Cannot write \S+missing\/fit\.json: no such file or directory\. Check the path\.\n$/,
    ),
  });
});

test("the same labels and seed give the same fit", async () => {
  const files = await Promise.all(
    [1, 2].map(async () => {
      const { folder, fit } = await inFolder(proofs());
      await fit();
      return await readFile(join(folder, "fit.json"), "utf8");
    }),
  );
  expect(files[0]).toBe(files[1]);
});

test("without a gap the cheapest model is best, and no fit is written", async () => {
  const { folder, fit } = await inFolder(proofs({ small: 1 }));
  const { exitCode, stdout } = await fit();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: "cheapest-is-best",
    promise: null,
    artifact: null,
  });
  await expect(readFile(join(folder, "fit.json"))).rejects.toThrow("ENOENT");
});

test("too few labels end with 3, and a number that may suffice", async () => {
  const { exitCode, stdout } = await (await inFolder(proofs({ n: 30 }))).fit();
  expect(exitCode).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: "cannot-tell",
    sentence: expect.stringContaining("40 labels may suffice"),
  });
});

test("equal prompts count once, so copies of noise are no evidence", async () => {
  const labels = proofs({ n: 100 }).map((label, at) =>
    Object.assign(label, { prompt: `prompt ${at % 39}` }),
  );
  const { stdout } = await (await inFolder(labels)).fit();
  expect(JSON.parse(stdout)).toMatchObject({ verdict: "cannot-tell", promise: null });
});

test("a fit that was changed, or is for other models, is refused", async () => {
  const { folder, run, fit } = await inFolder(proofs());
  await fit();
  const apply = (env: Environment = {}) => run(["apply", "fit.json", "labels.ndjson"], env);
  const other = await apply({ ROUTER_MODEL_FRONTIER: "acme/other" });
  expect(other).toMatchObject({ exitCode: 1, stdout: "" });
  expect(other.stderr).toContain("as frontier, which is acme/other here. Make it again with");
  const text = await readFile(join(folder, "fit.json"), "utf8");
  for (const [changed, words] of [
    [text.replace('"labels":400', '"labels":4000'), "was changed: its hash is another"],
    [text.slice(0, -100), "is no fit of this version"],
    ["null", "is no fit of this version"],
    [text.replace('"version":2', '"version":1'), "is no fit of this version"],
  ] as const) {
    await writeFile(join(folder, "fit.json"), changed);
    const { exitCode, stderr } = await apply();
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(words),
    });
  }
});

test("the decision log with feedback is fitted by its probabilities, which prompts then need", async () => {
  const random = seededRandom(3);
  const lines = Array.from({ length: 300 }, (_, at) => {
    const feedback = random() < 0.4 ? "frontier" : "nano";
    const share = feedback === "nano" ? 0.9 : 0.2;
    const probabilities = { nano: share, fast: 0, balanced: 0, frontier: 1 - share };
    const record = { requestId: `r${at}`, tierChosen: "nano", probabilities, confidence: 0.8 };
    return [record, { requestId: `r${at}`, feedback }];
  });
  const { run, write, fit } = await inFolder(lines.flat());
  const { stdout } = await fit();
  expect(JSON.parse(stdout)).toMatchObject({ verdict: "route", heldOut: { length: null } });
  const easy = { nano: 0.9, fast: 0, balanced: 0, frontier: 0.1 };
  await write("prompts.ndjson", [{ prompt: "hi", probabilities: easy }, { prompt: "hi" }]);
  const { exitCode, stdout: printed, stderr } = await run(["apply", "fit.json", "prompts.ndjson"]);
  expect(JSON.parse(printed)).toMatchObject({ id: 1, tier: "nano" });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("line 2: has no probabilities, which this fit needs.");
});

/** A fit that predicts no gain for any prompt. */
function fitWith(threshold: number): string {
  const weights = Array.from({ length: COLUMNS }, () => 0);
  const promise = { saving: 0.5, quality: 0.97, confidence: 0.95 };
  const learned = { cheapest: "nano", intercept: 0, needsEvaluation: false, promise } as const;
  const origin = { tiers: defaultTierModels, prices: null, labels: 400, labelsHash: "" };
  return printFit({ ...learned, ...origin, threshold, weights });
}

test("SIGHUP reads the fit again, and one that was changed is not used", async () => {
  const path = join(await temporaryFolder(), "fit.json");
  await writeFile(path, fitWith(1));
  const { child, firstOutput, ended } = startProgram("main.ts", { PORT: "0", ROUTER_FIT: path });
  onTestFinished(() => void child.kill("SIGKILL"));
  const origin = /http:\S+/.exec(String(await firstOutput))?.[0] ?? "";
  const decide = async () => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: '{"message":"hi"}' };
    return ((await (await fetch(`${origin}/decide`, init)).json()) as { tierUsed: string })
      .tierUsed;
  };
  const reload = async (text: string) => {
    await writeFile(path, text);
    child.kill("SIGHUP");
    return String(await once(child.stderr, "data"));
  };
  expect(await decide()).toBe("nano");
  expect(await reload(fitWith(-1))).toBe("The configuration was read again.\n");
  expect(await decide()).toBe("frontier");
  const changed = fitWith(1).replace('"labels":400', '"labels":4000');
  expect(await reload(changed)).toContain("was changed: its hash is another");
  expect(await decide()).toBe("frontier");
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0 });
}, 30_000);
