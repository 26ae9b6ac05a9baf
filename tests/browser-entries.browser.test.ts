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
  await page.context().setOffline(true);
  onTestFinished(async () => {
    await page.context().setOffline(false);
    await page.close();
  });
  await page.addScriptTag({ content: await bundle(program) });
  return await page.evaluate("globalThis.result");
}

test("a module of Node fails a bundle", async () => {
  await expect(bundle('import "node:fs";')).rejects.toThrow('Could not resolve "node:fs"');
});

test.each([
  ["evaluator-calibration", 24_000],
  ["evaluator-calibration/statistics", 20_000],
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
