import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { openSharedPage } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";

/** Bundles a program as for a browser; an import of a module of Node fails the build. */
async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    logLevel: "silent",
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** Runs a program in Chromium without a network, and returns the value of its promise `result`. */
async function runInBrowser(program: string): Promise<unknown> {
  const page = await openSharedPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  // A page with an origin, without which it has no storage.
  const contentType = "text/html";
  await page.route("http://page.example/", (route) => route.fulfill({ body: "", contentType }));
  await page.context().setOffline(true);
  onTestFinished(async () => {
    await page.context().setOffline(false);
    await page.close();
  });
  await page.goto("http://page.example/");
  await page.addScriptTag({ content: await bundle(program) });
  const result = await page.evaluate("globalThis.result");
  expect(problems).toEqual([]);
  return result;
}

test("a module of Node fails a bundle", async () => {
  await expect(bundle('import "node:fs";')).rejects.toThrow('Could not resolve "node:fs"');
});

test.each([
  ["evaluator-calibration", 24_000],
  ["evaluator-calibration/statistics", 20_000],
  ["evaluator-emulator/fetch", 40_000],
])("%s takes at most %d bytes in a browser", async (entry, most) => {
  const text = await bundle(`import * as all from "${entry}"; globalThis.all = all;`);
  expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(most);
});

test("the root of evaluator-calibration has at most 18 values, and shares five with its statistics", async () => {
  const root = Object.keys(await import("evaluator-calibration"));
  const statistics = Object.keys(await import("evaluator-calibration/statistics"));
  expect(root.length).toBeLessThanOrEqual(18);
  expect(root.filter((name) => statistics.includes(name)).toSorted()).toEqual([
    "cohenKappa",
    "corpCurve",
    "costThreshold",
    "learnThenTest",
    "promiseThresholds",
  ]);
});

test("evaluator-calibration promises a threshold in a browser, and hashes questions", async () => {
  const result = await runInBrowser(`
    import { promiseThresholds, questionHash } from "evaluator-calibration";
    import { wilson } from "evaluator-calibration/statistics";
    const sureness = Array.from({ length: 400 }, (_, index) => (index % 2 === 0 ? 0.9 : 0.2));
    const wrong = sureness.map(() => 0);
    globalThis.result = [
      promiseThresholds([{ question: "refund", action: "yes", sureness, wrong }], { maxRisk: 0.05 }),
      questionHash({ refund: { type: "boolean", instructions: "Is a refund due?" } }),
      wilson(1, 10).low < 0.1,
    ];
  `);
  const hash = expect.stringMatching(/^[\w+/-]{20,}=*$/) as unknown;
  expect(result).toEqual([[expect.objectContaining({ threshold: 0.9, acted: 200 })], hash, true]);
});

const questions = `{
  category: choice("What kind of mail is it?", { receipt: "an invoice", other: "anything else" }),
  urgency: score("How urgent is it?", ["can wait", "today"]),
  scam: boolean("Is it a scam?"),
}`;

test("evaluator-emulator/fetch answers the client in a browser, by rules and with faults", async () => {
  const result = await runInBrowser(`
    import { boolean, choice, createEvaluator, gatewayTransport, score } from "evaluator-client";
    import { createEmulator } from "evaluator-emulator/fetch";
    async function ask() {
      const rules = [{ match: "lottery", answers: { scam: 0.97 } }];
      const faults = [{ kind: "status", status: 429, retryAfter: 0, next: 1, rate: 1 }];
      const emulator = createEmulator({ rules, faults });
      const transport = gatewayTransport({ apiKey: "local", fetch: emulator.fetch });
      const evaluator = createEvaluator({ transport });
      const state = "You have won the lottery. Your invoice is attached.";
      const { answers, modelId } = await evaluator.evaluate({ state, questions: ${questions} });
      const { requests } = await (await emulator.fetch("/_emulator/requests")).json();
      const scores = Object.keys(answers.urgency.probabilities).length;
      return [answers.category.choice, scores, answers.scam.probability, modelId, requests.map(({ status }) => status)];
    }
    globalThis.result = ask();
  `);
  expect(result).toEqual(["receipt", 2, 0.97, "local/rules-1", [429, 200]]);
});

test("evaluator-emulator/msw makes handlers in a browser", async () => {
  const result = await runInBrowser(`
    import { createEmulator } from "evaluator-emulator/fetch";
    import { emulatorHandlers } from "evaluator-emulator/msw";
    globalThis.result = emulatorHandlers(createEmulator()).map(({ info }) => info.path);
  `);
  expect(result).toContain("*/v4/ai/*");
});
