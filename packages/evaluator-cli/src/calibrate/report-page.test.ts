import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runToExitCode } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { openSharedPage } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";
import { runEvaluator } from "../run-evaluator.ts";

const hostile = '<img src=x onerror="alert(1)">&\u202E';

async function openPage() {
  const page = await openSharedPage();
  onTestFinished(() => page.close());
  return page;
}

async function reportFolder(odd = hostile): Promise<string> {
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 400 }, (_, index) => {
    const p = (index % 101) / 100;
    return { id: index === 99 ? odd : `r${index}`, p, truth: (index * 37) % 100 < 70 * p };
  });
  const lines = (records: readonly object[]) =>
    records.map((row) => `${JSON.stringify(row)}\n`).join("");
  const answers = rows.map(({ id, p }) => ({
    id,
    question: hostile,
    probability: p,
    modelId: hostile,
  }));
  await writeFile(join(cwd, "answers.ndjson"), lines(answers));
  const labels = rows.map(({ id, truth }, index) => ({
    id,
    truth,
    group: `${odd}${index % 4}`,
  }));
  await writeFile(join(cwd, "labels.ndjson"), lines(labels));
  const words = ["calibrate", "labels.ndjson", "--answers", "answers.ndjson", "--by", "group"];
  const context = createTestContext({ cwd });
  const more = ["--cost", "falseAct=5,missedAct=1", "--on-average"];
  expect(await runToExitCode(runEvaluator, [...words, ...more], { name: "It", context })).toBe(0);
  return join(cwd, "calibration");
}

test("the page fits every width, light and dark, runs nothing and asks for nothing", async () => {
  const url = pathToFileURL(join(await reportFolder(), "report.html")).href;
  const text = await readFile(new URL(url), "utf8");
  expect(text).not.toMatch(/<script|<img|<link/);
  const page = await openPage();
  let asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (line) => asked.push(line.text()));
  for (const [width, colorScheme] of [
    [1280, "light"],
    [380, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    asked = [];
    await page.goto(url);
    const tooWide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(tooWide)).toBe(0);
    expect(asked).toEqual([url]);
  }
});

test("a question is printed on one sheet of A4", async () => {
  const page = await openPage();
  await page.goto(pathToFileURL(join(await reportFolder("scam"), "report.html")).href);
  const pdf = await page.pdf({ preferCSSPageSize: true });
  expect(pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
});

test("what stands outside the band is marked by its shape too, and pictures have words", async () => {
  const page = await openPage();
  await page.goto(pathToFileURL(join(await reportFolder(), "report.html")).href);
  const outside = await page.locator("path.outside").first().getAttribute("d");
  const inside = await page.locator("path.dot:not(.outside)").first().getAttribute("d");
  expect(outside).not.toBe(inside);
  expect(await page.getByRole("img").count()).toBe(3);
  expect(await page.getByText("What may I do without asking?").count()).toBe(1);
});
