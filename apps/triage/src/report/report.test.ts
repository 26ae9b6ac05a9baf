import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launchBrowser } from "evaluator-fixtures/browser";
import { expect, onTestFinished, test } from "vitest";
import { folderWith } from "../testing/inbox-folder.ts";
import { recordingTransport } from "../testing/recording-transport.ts";
import { sampleMail } from "../testing/sample-mail.ts";
import { sampleResponse } from "../testing/sample-response.ts";
import { startTriage } from "../testing/start-triage.ts";

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
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `Wrote ${cwd}/inbox.triage.html\n` });
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
    "importance",
    "category",
    "brandDeal",
    "scam",
    "importance over time",
    "Top senders",
  ]);
  const bars = page.locator("figure svg :is(rect, circle)");
  expect(await bars.count()).toBeGreaterThan(10);
  expect(await page.locator("dd").allTextContents()).toEqual(
    expect.arrayContaining(["4", "0", "unknown", "recording", "1,200", "$0.00005"]),
  );
  expect(await page.locator("tbody tr td:nth-child(4)").allTextContents()).toContain("About m-1");
  expect(requests).toEqual([page.url()]);
}, 30_000);

test("what a mail says runs nothing, fetches nothing and stays text", async () => {
  const path = await reportOf([sampleMail({ subject: nasty, from: `${nasty} <a@b.example>` })]);
  expect(await readFile(path, "utf8")).not.toMatch(/<script|<img|\u202e/);
  const { page, requests } = await open(path);
  expect(await page.title()).toBe("Triage of 1 mails");
  expect(await page.locator("tbody tr td:nth-child(4)").textContent()).toContain("<script>");
  expect(requests).toEqual([page.url()]);
}, 30_000);

test("no mails make a page as well", async () => {
  expect(await readFile(await reportOf([]), "utf8")).toContain("No mails.");
});

test("without results the way on is named", async () => {
  const cwd = await folderWith([]);
  const { exitCode, stderr } = await startTriage(["report", "inbox.json"], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Run triage on the file first.");
});
