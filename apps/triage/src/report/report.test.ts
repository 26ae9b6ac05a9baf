import { readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launchBrowser } from "evaluator-fixtures/browser";
import { expect, onTestFinished, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const nasty = `</td></svg><script>document.title = "owned"</script><img src="http://evil.example/x" onerror="document.title='owned'">\u202e"'`;

async function reportOf(mails: readonly object[]) {
  const cwd = await folderWith(mails);
  const transport = recordingTransport((index) =>
    sampleResponse({
      importance: index % 6,
      confidence: { category: 0.9, importance: index / 10 },
    }),
  );
  await startTriage(["inbox.json"], { cwd, transport });
  const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: `Wrote ${cwd}/inbox.triage.html, from ${cwd}/inbox.triage.json\n`,
  });
  return join(cwd, "inbox.triage.html");
}

async function open(path: string) {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(path).href);
  return { page, requests };
}

test("shows every plot, the facts of the runs and the uncertain mails, from one file", async () => {
  const mails = ["m-1", "m-2", "m-3"].map((id) => sampleMail({ id, subject: `About ${id}` }));
  const { page, requests } = await open(await reportOf([...mails, sampleMail({ id: "m-4" })]));
  expect(await page.locator("figcaption").allTextContents()).toEqual([
    "Importancemails by mean level",
    "Categorymails by option picked",
    "Brand dealmails by probability",
    "Scammails by probability",
    "Importance over timemails by day",
    "Top sendersmails by address",
  ]);
  const bars = page.locator("figure svg :is(rect, circle), figure .bar-length");
  expect(await bars.count()).toBeGreaterThan(10);
  expect(await page.locator("dd").allTextContents()).toEqual(
    expect.arrayContaining([
      "4",
      "0",
      "1,200",
      "$0.00005",
      expect.stringMatching(/^unknown through recording; last run /),
    ]),
  );
  expect(await page.locator("tbody tr td:nth-child(4)").allTextContents()).toContain("About m-1");
  expect(requests).toEqual([page.url()]);
});

test("what a mail says runs nothing, fetches nothing and stays text", async () => {
  const path = await reportOf([sampleMail({ subject: nasty, from: `${nasty} <a@b.example>` })]);
  expect(await readFile(path, "utf8")).not.toMatch(/<script|<img|\u202e/);
  const { page, requests } = await open(path);
  expect(await page.title()).toBe("Triage of 1 mail");
  expect(await page.locator("tbody tr td:nth-child(4)").textContent()).toContain("<script>");
  expect(requests).toEqual([page.url()]);
});

test("no mails make a page as well", async () => {
  expect(await readFile(await reportOf([]), "utf8")).toContain("No mails.");
});

test("without results the way on is named", async () => {
  const cwd = await folderWith([]);
  const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("run triage on the file first.");
});

test.each([
  ["json", "ndjson", "ndjson"],
  ["ndjson", "json", "json"],
  ["ndjson", "csv", "ndjson"],
])("after %s and then %s, it is made from the %s", async (first, second, from) => {
  const cwd = await folderWith([sampleMail()]);
  for (const format of [first, second]) {
    await startTriage(["inbox.json", "--format", format], { cwd });
    const path = join(cwd, `inbox.triage.${format}`);
    const writtenAt = format === first ? 1 : 2; // apart, however coarse the disk's clock is
    await utimes(path, writtenAt, writtenAt);
  }
  const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stderr).toContain(`, from ${cwd}/inbox.triage.${from}\n`);
});

test("from CSV alone none is made, and the way on is named", async () => {
  const cwd = await folderWith([sampleMail()]);
  await startTriage(["inbox.json", "--format", "csv"], { cwd });
  const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("run triage on the file again without --format");
});

test("very many mails make a page that stays small", async () => {
  const mails = Array.from({ length: 3000 }, (_, index) =>
    sampleMail({ id: `m-${index}`, date: `2026-${String(1 + (index % 12)).padStart(2, "0")}-10` }),
  );
  const page = await readFile(await reportOf(mails), "utf8");
  expect(page.match(/<circle/g)).toBeNull();
  expect(page.length).toBeLessThan(100_000);
});
