import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSharedPage } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const hostile = `</script><script>document.title="broken"</script><img src=x onerror=alert(1)>`;
const mails = Array.from({ length: 12 }, (_, index) =>
  sampleMail({ id: `m-${index}`, subject: `Mail number ${index} ${hostile}` }),
);

/** A folder with a run's journal with two printed values of scam. */
async function triagedFolder(): Promise<string> {
  const cwd = await folderWith(mails);
  const transport = recordingTransport((index) => {
    const response = sampleResponse({ importance: index % 6 });
    return {
      ...response,
      answers: {
        ...response.answers,
        scam: { type: "boolean", probability: index < 6 ? 0.1 : 0.9 },
      },
    };
  });
  await startTriage(["inbox.json"], { cwd, transport });
  return cwd;
}

/** Starts the page, and returns where it is and how it ended. */
async function startLabelling(cwd: string, ...words: string[]) {
  const interruption = new AbortController();
  const ready = Promise.withResolvers<string>();
  const said: string[] = [];
  const stderr = {
    write(text: string) {
      said.push(text);
      const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (origin !== undefined) ready.resolve(origin);
    },
  };
  const ended = startTriage(["label", "inbox.json", ...words], {
    cwd,
    stderr,
    signal: interruption.signal,
  });
  const failed = ended.then(() => Promise.reject(new Error(`It ended early: ${said.join("")}`)));
  const origin = await Promise.race([ready.promise, failed]);
  const stop = async () => {
    interruption.abort(new Error("stop"));
    return { ...(await ended), said: said.join("") };
  };
  onTestFinished(async () => void (await stop()));
  return { origin, stop };
}

async function labelsIn(cwd: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(cwd, "inbox.labels.ndjson"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a person labels drawn mails by keyboard, and each label is saved at once", async () => {
  const cwd = await triagedFolder();
  const { origin, stop } = await startLabelling(cwd, "--count", "4", "--question", "scam");
  const page = await openSharedPage();
  onTestFinished(() => page.close());
  const problems: string[] = [];
  page.on("console", (line) => problems.push(line.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(origin);

  expect(await page.getByRole("heading").textContent()).toContain(
    "Does the email look like a scam",
  );
  expect(await page.getByRole("article").textContent()).toContain(hostile);
  await page.keyboard.press("y");
  await page.getByText("1 of 4 labelled").waitFor();
  expect(await labelsIn(cwd)).toMatchObject([{ question: "scam", truth: true, labeler: "person" }]);

  await page.keyboard.press("b");
  await page.locator('button[aria-pressed="true"]').waitFor();
  await page.keyboard.press("n");
  await page.waitForURL(/from=1/);
  expect(await labelsIn(cwd)).toMatchObject([{ truth: false }]);

  await page.keyboard.press("s");
  await page.waitForURL(/from=2/);
  expect((await labelsIn(cwd))[1]).toMatchObject({ truth: null, skipped: true, labeler: "person" });
  for (const labelled of [2, 3]) {
    await page.keyboard.press("n");
    await page.getByText(`${labelled} of 4 labelled`).waitFor();
  }
  await page.getByText("1 left without a label").waitFor();
  await page.keyboard.press("b");
  await page.waitForURL(/from=0/);
  await page.keyboard.press("y");
  await page.getByText("All labelled").waitFor();
  expect((await labelsIn(cwd)).filter(({ skipped }) => skipped === true)).toEqual([]);
  const command =
    "npm run evaluator -- calibrate inbox.labels.ndjson --answers inbox.triage.sqlite";
  await page.getByText(command).waitFor();
  expect(problems).toEqual([]);
  expect(await page.title()).toBe("Label scam: 4 of 4");

  const { exitCode, said } = await stop();
  expect(exitCode).toBe(0);
  expect(said).not.toContain("mails and not");
  expect(said).toContain(command);
});

test("the page holds nothing of the model's answer, and the weights sum up to all mails", async () => {
  const cwd = await triagedFolder();
  const { origin } = await startLabelling(cwd, "--count", "6", "--question", "importance");
  for (let left = 6; left > 0; left -= 1) {
    const html = await (await fetch(origin)).text();
    const shown = html.slice(html.indexOf("<main>"));
    expect(shown).not.toMatch(/0\.\d\d/);
    expect(shown).not.toContain('aria-pressed="true"');
    const id = /name="id" value="([^"]+)"/.exec(html)?.[1] ?? "";
    const body = new URLSearchParams({ question: "importance", id, at: "0", answer: "3" });
    const saved = await fetch(`${origin}/labels`, { method: "POST", body, redirect: "manual" });
    expect(saved.status).toBe(303);
  }
  const labels = await labelsIn(cwd);
  expect(labels.map(({ truth }) => truth)).toEqual([3, 3, 3, 3, 3, 3]);
  const weights = labels.map(({ weight }) => Number(weight));
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(12, 9);
});

test("fewer mails than asked for are told", async () => {
  const { stop } = await startLabelling(await triagedFolder(), "--count", "40");
  const { said } = await stop();
  expect(said).toContain("Of brand_deal there are 12 mails and not 40: one model has answered no");
});

test("what is no label of the page is refused and saves nothing", async () => {
  const cwd = await triagedFolder();
  const { origin } = await startLabelling(cwd);
  const forms: Record<string, string>[] = [
    {},
    { question: "scam", id: "m-99", at: "0", answer: "0" },
    { question: "scam", id: "m-1", at: "0", answer: "2" },
    { question: "other", id: "m-1", at: "0", answer: "0" },
  ];
  for (const form of forms) {
    const body = new URLSearchParams(form);
    expect((await fetch(`${origin}/labels`, { method: "POST", body })).status).toBe(400);
  }
  const body = new URLSearchParams({ question: "scam", id: "m-1", at: "0", answer: "0" });
  for (const foreign of [{ origin: "http://127.0.0.1:1" }, { "sec-fetch-site": "cross-site" }]) {
    const response = await fetch(`${origin}/labels`, { method: "POST", body, headers: foreign });
    expect(response.status).toBe(403);
  }
  await expect(labelsIn(cwd)).rejects.toThrow("ENOENT");
});

test("without answers, or with another question, it says what there is", async () => {
  const cwd = await folderWith(mails);
  const early = await startTriage(["label", "inbox.json"], { cwd });
  expect(early).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("start a run about its input first"),
  });
  const triaged = await triagedFolder();
  const other = await startTriage(["label", "inbox.json", "--question", "spam"], { cwd: triaged });
  expect(other).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("it has category, importance, brand_deal, scam"),
  });
  await writeFile(join(triaged, "inbox.labels.ndjson"), "{}\n");
  const broken = await startTriage(["label", "inbox.json"], { cwd: triaged });
  expect(broken).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("line 1 of") });
});
