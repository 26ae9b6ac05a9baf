import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { expect, onTestFinished, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { manyTickets, sampleTicket } from "../testing/tickets/ticket-source.ts";
import {
  folderWith,
  startTicketPage,
  startTickets,
  ticketMachines,
} from "../testing/tickets/start-tickets.ts";

const machines = ticketMachines();
const hostile = `</script><script>document.title="broken"</script><img src=x onerror=alert(1)>`;
const tickets = Array.from({ length: 12 }, (_, index) =>
  sampleTicket({ id: `m-${index}`, subject: `Ticket number ${index} ${hostile}` }),
);

/** A folder with a run's journal with two printed values of scam. */
async function triagedFolder(): Promise<string> {
  const cwd = await folderWith(tickets);
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
  await startTickets(["inbox.json"], { cwd, transport });
  return cwd;
}

/** Starts the page, and returns where it is and how it ended. */
const startLabelling = async (cwd: string, ...words: string[]) =>
  startTicketPage(["label", "inbox.json", ...words], { cwd });

async function labelsIn(cwd: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(cwd, "inbox.labels.ndjson"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a person labels drawn tickets by keyboard, and each label is saved at once", async () => {
  const cwd = await triagedFolder();
  const { origin, ended, stop } = await startLabelling(cwd, "--count", "4", "--question", "scam");
  const page = await openSharedPage();
  onTestFinished(() => page.close());
  const problems: string[] = [];
  page.on("console", (line) => problems.push(line.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(origin);

  expect(await page.getByRole("heading").textContent()).toContain("Does it look like a scam");
  expect(await page.getByRole("article").textContent()).toContain(hostile);
  expect(await problemsOn(page)).toEqual([]);
  await page.keyboard.press("y");
  await page.getByText("1 of 4 labelled").waitFor();
  expect(await labelsIn(cwd)).toMatchObject([{ question: "scam", truth: true, labeler: "person" }]);

  await page.keyboard.press("b");
  await page.locator('button[aria-pressed="true"]').waitFor();
  await page.keyboard.press("n");
  await page.waitForURL(/from=1/);
  expect(await labelsIn(cwd)).toMatchObject([{ truth: false }]);

  await page.keyboard.press("s");
  await page.getByText("2 of 4 labelled, 1 skipped").waitFor();
  expect((await labelsIn(cwd))[1]).toMatchObject({ truth: null, skipped: true, labeler: "person" });
  for (const labelled of [3, 4]) {
    await page.keyboard.press("n");
    await page.getByText(`${labelled} of 4 labelled`).waitFor();
  }
  await page.getByText("All labelled").waitFor();
  expect(await problemsOn(page)).toEqual([]);
  await page.keyboard.press("b");
  await page.waitForURL(/at=1/);
  await page.keyboard.press("y");
  await page.getByText("4 of 4 labelled", { exact: true }).waitFor();
  expect((await labelsIn(cwd)).filter(({ skipped }) => skipped === true)).toEqual([]);
  const command = "evaluator-cli calibrate inbox.labels.ndjson --answers inbox.tickets.sqlite";
  await page.getByText(command).waitFor();
  expect(problems).toEqual([]);
  expect(await page.title()).toBe("Label scam: 4 of 4");

  await page.keyboard.press("Escape");
  await page.getByText("the program has ended").waitFor();
  const { exitCode } = await ended;
  expect(exitCode).toBe(0);
  const { said } = await stop();
  expect(said).not.toContain("tickets and not");
  expect(said.trimEnd().split("\n").slice(-2)).toEqual(["4 labels, 0 skipped", `Next: ${command}`]);
});

test("without a label no command about the file of labels is printed", async () => {
  const { stop } = await startLabelling(await triagedFolder(), "--question", "scam");
  expect((await stop()).said).toMatch(/\n0 labels, 0 skipped\nNo label was saved\.\n$/);
});

test("a skip is one of the labels, and Ctrl-C prints the counts and the next command", async () => {
  const { origin, stop } = await startLabelling(await triagedFolder(), "--question", "scam");
  for (const [id, answer] of [
    ["m-1", "skip"],
    ["m-2", "1"],
  ] as const) {
    const body = new URLSearchParams({ question: "scam", id, answer });
    await fetch(`${origin}/labels`, { method: "POST", body, redirect: "manual" });
  }
  const { exitCode, said } = await stop();
  expect(exitCode).toBe(0);
  expect(said).toMatch(/\n2 labels, 1 skipped\nNext: evaluator-cli calibrate \S+ --answers/);
});

test("the page holds nothing of the model's answer, and labels of a uniform draw have no weights", async () => {
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
  expect(labels.filter((label) => "weight" in label || "drawn" in label)).toEqual([]);
});

test("with --one-per no two drawn tickets have the same value of a field", async () => {
  const cwd = await triagedFolder();
  const ofField = async (name: string) => {
    const { origin, stop } = await startLabelling(cwd, "--one-per", name, "--question", "scam");
    const html = await (await fetch(origin)).text();
    await stop();
    return /of (\d+) labelled/.exec(html)?.[1];
  };
  expect(await ofField("subject")).toBe("12");
  expect(await ofField("from")).toBe("1");
  const none = await startTickets(["label", "inbox.json", "--one-per", "thread"], { cwd });
  expect(none).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('No record has a field "thread"'),
  });
});

test("fewer tickets than asked for are told", async () => {
  const { stop } = await startLabelling(await triagedFolder(), "--count", "40");
  const { said } = await stop();
  expect(said).toContain("Of brand_deal there are 12 tickets, not 40: one model answered no");
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
  const cwd = await folderWith(tickets);
  const early = await startTickets(["label", "inbox.json"], { cwd });
  expect(early).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("start a run about its input first"),
  });
  const triaged = await triagedFolder();
  const other = await startTickets(["label", "inbox.json", "--question", "spam"], { cwd: triaged });
  expect(other).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      'There is no question "spam"; there are category, importance, brand_deal, scam.',
    ),
  });
  await writeFile(join(triaged, "inbox.labels.ndjson"), "{}\n");
  const broken = await startTickets(["label", "inbox.json"], { cwd: triaged });
  expect(broken).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("line 1 of") });
});

test("answers in a shared database are labelled, and the next command does not show its URL", async () => {
  const cwd = await folderWith(manyTickets(3));
  await machines.start(["inbox.json"], { cwd });
  const words = ["label", "inbox.json", "--question", "scam", "--count", "2"];
  const { origin, stop } = await machines.serve(words, { cwd });
  const page = await (await fetch(origin)).text();
  const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? "";
  expect(page).toMatch(/About \d/);
  const body = new URLSearchParams({ question: "scam", id, at: "0", answer: "0" });
  await fetch(`${origin}/labels`, { method: "POST", body });
  const { said } = await stop();
  expect(said).toContain(
    'Next: evaluator-cli calibrate inbox.labels.ndjson --answers "$TICKETS_JOURNAL#1"\n',
  );
  const labels = await readFile(join(cwd, "inbox.labels.ndjson"), "utf8");
  expect(JSON.parse(labels)).toMatchObject({ id, question: "scam", labeler: "person" });
});
