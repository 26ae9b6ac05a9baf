import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildPlayground } from "../docs/playground/build.ts";

const folder = mkdtempSync(join(tmpdir(), "playground-"));
beforeAll(() => buildPlayground(folder));
afterAll(() => rmSync(folder, { recursive: true }));

const site = "http://docs.example/playground/";
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'";

/** Opens the playground, or another page with it in a frame, without a network. */
async function open(hash = "", { embeddedIn }: { embeddedIn?: string } = {}) {
  const page = await openSharedPage();
  const asked: string[] = [];
  await page.route("**/*", async (route) => {
    const url = route.request().url();
    asked.push(url);
    const name = url.startsWith(site) ? url.slice(site.length).replace(/#.*/, "") : null;
    if (url === "http://other.example/") {
      await route.fulfill({ contentType: "text/html", body: embeddedIn ?? "" });
    } else if (name === null) await route.abort();
    else await route.fulfill({ path: join(folder, name === "" ? "index.html" : name) });
  });
  await page.context().setOffline(true);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  onTestFinished(async () => {
    await page.context().setOffline(false);
    await page.close();
    expect(problems).toEqual([]);
  });
  await page.goto(embeddedIn === undefined ? site + hash : "http://other.example/");
  const main = embeddedIn === undefined ? page : page.frameLocator("iframe");
  const code = main.getByLabel("Code");
  const result = main.getByLabel("Result");
  const run = async (text?: string) => {
    if (text !== undefined) await code.fill(text);
    await main.getByRole("button", { name: "Run" }).click();
    await expect.poll(() => result.textContent()).not.toBe("");
    return (await result.textContent()) ?? "";
  };
  return { page, asked, code, result, run };
}

test("it is a page and one classic script of at most 110 kB, with a policy that forbids a network", () => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const script = readFileSync(join(folder, "playground.js"));
  const size = gzipSync(html, { level: 9 }).length + gzipSync(script, { level: 9 }).length;
  expect(size).toBeLessThanOrEqual(110_000);
  expect(/http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(html)?.[1]).toBe(policy);
  expect(html.match(/<script[^>]*>/g)).toEqual(['<script src="playground.js">']);
});

test("the first example prints a promise, and that it is simulated", async () => {
  const { run, result, asked } = await open();
  await run();
  await expect.poll(() => result.textContent()).toMatch(/act on "no" at 0\.\d+ and above/);
  expect(await result.textContent()).toContain("simulated");
  expect(asked).toEqual([site, `${site}playground.js`]);
});

test.each([
  ["Every question type", /choice:[^]*score:[^]*boolean:/],
  ["Your own question", /\(simulated\) gives yes 0\.93/],
  ["Errors and retries", /answered after 3 attempts/],
])("the example %j runs when it is chosen", async (title, printed) => {
  const { page, result } = await open();
  await page.getByLabel("Example").selectOption(title);
  await expect.poll(() => result.textContent()).toMatch(printed);
});

test("imports in every form are the page's packages", async () => {
  const { run } = await open();
  const printed = await run(`
    import * as calibration from "evaluator-calibration";
    import {
      choice as pick, // renamed
    } from 'evaluator-client'
    import "evaluator-calibration";
    const { createEmulator } = await import("evaluator-emulator/fetch");
    console.log(typeof calibration.decide, pick("Which?", { a: null }).type, typeof createEmulator);
    console.log("import { x } from 'nowhere'", undefined, { a: [1] });
  `);
  expect(printed).toBe(
    `function choice function\nimport { x } from 'nowhere' undefined {\n  "a": [\n    1\n  ]\n}\n`,
  );
});

test.each([
  ['import { map } from "lodash";', '"lodash" is not in this page; it has evaluator-client, '],
  ['import { nothing } from "evaluator-client";', 'has no export "nothing"'],
  ["const one = ;", "SyntaxError"],
  ["export const one = 1;", "SyntaxError: Unexpected token 'export'"],
  ["\n\nnull.length;", "TypeError: Cannot read properties of null (reading 'length') (line 3)"],
  ["setTimeout(() => { throw new Error('late'); });", "printed nothing.\nError: late"],
  ["Promise.reject(new Error('nobody waits'));", "Error: nobody waits"],
  ["await fetch('https://example.com/');", "TypeError: Failed to fetch"],
  ["await fetch('data.json');", "TypeError: Failed to fetch"],
  ["", "the code printed nothing"],
])("%j shows an error", async (code, shown) => {
  const { run, result } = await open();
  await run(code);
  await expect.poll(() => result.textContent()).toContain(shown);
});

test("only the last run prints", async () => {
  const { run, result } = await open();
  await run(
    "console.log('first'); await new Promise((go) => (globalThis.go = go)); console.log('late');",
  );
  await run("globalThis.go(); console.log('second');");
  // The first run's text is there until the page has seen the click.
  await expect.poll(() => result.textContent()).toBe("second\n");
});

test("a link carries the code, and does not run it", async () => {
  const first = await open();
  await first.run("console.log('100 %', \"#'ü\")");
  const link = await first.page
    .getByRole("link", { name: "Link to this code" })
    .getAttribute("href");
  expect(new URL(first.page.url()).hash).toBe(new URL(link ?? "", site).hash);
  const second = await open(new URL(link ?? "", site).hash);
  expect(await second.code.inputValue()).toBe("console.log('100 %', \"#'ü\")");
  expect(await second.result.textContent()).toBe("");
  expect(await second.run()).toBe("100 % #'ü\n");
});

test("another page may embed it in a sandboxed frame", async () => {
  const embeddedIn = `<iframe sandbox="allow-scripts" src="${site}"></iframe>`;
  const { run, result } = await open("", { embeddedIn });
  await run();
  await expect.poll(() => result.textContent()).toContain("act on");
  expect(await run("await fetch('https://example.com/');")).toContain("Failed to fetch");
});

test("axe and the rules of all pages find nothing", async () => {
  const { page, run } = await open();
  await run();
  expect(await problemsOn(page)).toEqual([]);
});
