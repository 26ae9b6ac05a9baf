import { build } from "esbuild";
import { createEmulator } from "evaluator-emulator";
import { launchBrowser } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";

/** A program as a browser would get it from a bundler; anything of Node in it fails the build. */
async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
  });
  return outputFiles.map(({ text }) => text).join("");
}

test("the fetch path works in a browser", async () => {
  const emulator = createEmulator();
  const browser = await launchBrowser();
  onTestFinished(async () => {
    await browser.close();
    await emulator.close();
  });
  const { origin, gatewayBaseUrl } = await emulator.listen();
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("console", (line) => problems.push(line.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  // A page of the emulator's own origin, as a browser sends nothing elsewhere unasked.
  await page.goto(`${origin}/v1/models`);
  await page.addScriptTag({
    content: await bundle(`
      import { boolean, choice, createEvaluator, gatewayTransport } from "./index.ts";
      const transport = gatewayTransport({ apiKey: "local", baseUrl: "${gatewayBaseUrl}" });
      globalThis.evaluation = createEvaluator({ transport }).evaluate({
        state: "hello there",
        questions: {
          tier: choice("Which?", { nano: "greeting", large: "code" }),
          sure: boolean("Is it a greeting?"),
        },
      });
    `),
  });
  const evaluation: unknown = await page.evaluate("globalThis.evaluation");
  expect(evaluation).toMatchObject({
    answers: { tier: { choice: "nano" } },
    modelId: "local/lexical-1",
  });
  expect(problems).toEqual([]);
});
