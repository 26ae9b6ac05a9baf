import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runToExitCode } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";
import { runEvaluator } from "../run-evaluator.ts";
import { run } from "../testing/run.ts";

const hostile = '<img src=x onerror="alert(1)">&\u202E';

async function openPage() {
  const page = await openSharedPage();
  onTestFinished(() => page.close());
  return page;
}

async function reportFolder(odd = hostile, questions = [hostile]): Promise<string> {
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 400 }, (_, index) => {
    const p = (index % 101) / 100;
    return { id: index === 99 ? odd : `r${index}`, p, truth: (index * 37) % 100 < 70 * p };
  });
  const lines = (records: readonly object[]) =>
    records.map((row) => `${JSON.stringify(row)}\n`).join("");
  const answers = questions.flatMap((question) =>
    rows.map(({ id, p }) => ({ id, question, probability: p, modelId: hostile })),
  );
  await writeFile(join(cwd, "answers.ndjson"), lines(answers));
  const labels = questions.flatMap((question) =>
    rows.map(({ id, truth }, index) => ({ id, question, truth, group: `${odd}${index % 4}` })),
  );
  await writeFile(join(cwd, "labels.ndjson"), lines(labels));
  const words = ["calibrate", "labels.ndjson", "--answers", "answers.ndjson", "--by", "group"];
  const context = createTestContext({ cwd });
  const more = ["--cost", "falseAct=5,missedAct=1", "--on-average"];
  expect(await runToExitCode(runEvaluator, [...words, ...more], { name: "It", context })).toBe(0);
  return join(cwd, "calibration");
}

test("nothing is wrong with the page in any look; it runs nothing and asks for nothing", async () => {
  const url = pathToFileURL(join(await reportFolder(), "report.html")).href;
  const text = await readFile(new URL(url), "utf8");
  expect(text).not.toMatch(/<script|<img|<link (?!rel="icon" href="data:)/);
  const page = await openPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(url);
  const question = page.locator("section[data-question]");
  expect(await question.getAttribute("data-question")).toBe(hostile.slice(0, -1));
  for (const tile of ["Gate", "Share handled", "Missed", "Labels to go"]) {
    expect(await question.getByText(tile, { exact: true }).isVisible()).toBe(true);
  }
  const folded = question.locator(":scope > details");
  await folded.locator(":scope > summary").click();
  expect(await folded.getByRole("heading").allTextContents()).toContain("Farthest off");
  expect(await problemsOn(page)).toEqual([]);
  expect(asked).toEqual([url]);
});

test("each question has a link with its gate above, and one screen", async () => {
  const folder = await reportFolder("scam", ["a", "b"]);
  const page = await openPage();
  await page.goto(pathToFileURL(join(folder, "report.html")).href);
  const links = page.getByRole("navigation", { name: "Contents" }).getByRole("link");
  expect(await links.allTextContents()).toEqual(["a none", "b none", "How it was computed"]);
  await links.nth(1).click();
  expect(await page.locator("section:target").getAttribute("data-question")).toBe("b");
  expect(await problemsOn(page)).toEqual([]);
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
  expect(await page.getByRole("img").count()).toBe(2);
  expect(await page.locator("svg[role=img]").count()).toBe(3); // one is folded
  expect(await page.getByText("What may I do without asking?").count()).toBe(1);
});

test("answers that are useful after recalibration add something, although a constant scores better", async () => {
  const folder = await temporaryFolder();
  const rows = Array.from({ length: 100 }, (_, at) => ({ id: `r${at}`, isYes: at % 5 === 0 }));
  const answers = rows.map(({ id, isYes }) => `${id},scam,${isYes ? 0.95 : 0.8}\n`);
  const labels = rows.map(({ id, isYes }) => `${id},${isYes ? "yes" : "no"}\n`);
  await writeFile(join(folder, "answers.csv"), `id,question,probability\n${answers.join("")}`);
  await writeFile(join(folder, "labels.csv"), `id,truth\n${labels.join("")}`);
  await run(folder, ["calibrate", "labels.csv", "--answers", "answers.csv"]);
  const page = await readFile(join(folder, "calibration", "report.html"), "utf8");
  expect(page).toContain("than the base rate: recalibrate it");
  expect(page).toContain("to a promise, of records over the gate");
  expect(page).not.toContain("the answers add nothing");
});
