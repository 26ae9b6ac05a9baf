import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openJournal } from "evaluator-runs";
import { openSharedPage, problemsOn } from "evaluator-kit/browser";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { triageQuestions } from "../questions/triage-questions.ts";
import { named, run, triaged } from "../testing/report-pages.ts";
import { recordingTransport, sampleMail } from "../testing/samples.ts";
import { startTriage, startTriagePage, stoppedClock } from "../testing/start-triage.ts";

let page: Awaited<ReturnType<typeof openSharedPage>>;
beforeAll(async () => {
  page = await openSharedPage();
});
afterAll(async () => page.close());

const clockOf = (day: string) => ({
  ...stoppedClock,
  epochNow: () => Date.parse(`${day}T12:00:00Z`),
});
const serve = async (cwd: string, day = "2026-11-24") =>
  startTriagePage(["serve", "inbox.json"], { cwd, clock: clockOf(day) });
const post = async (origin: string, fields: Record<string, string>, headers = {}) =>
  fetch(`${origin}/choices`, { method: "POST", body: new URLSearchParams(fields), headers });

/** Returns the subjects of the next report. */
async function reported(cwd: string, day = "2026-11-24"): Promise<string[]> {
  await startTriage(["report", "inbox.json"], { cwd, clock: clockOf(day) });
  const text = await readFile(join(cwd, "inbox.triage.html"), "utf8");
  return Array.from(text.matchAll(/class="subject">([^<$]*)</g), ([, subject = ""]) =>
    subject.trim(),
  );
}

async function labelsIn(cwd: string): Promise<unknown[]> {
  const text = await readFile(join(cwd, "inbox.labels.ndjson"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

test("a list is worked by keyboard, and the next report leaves out what is done and snoozed", async () => {
  const cwd = await triaged(named("first", "second", "third"), [
    { importance: 5 },
    { importance: 4 },
    { importance: 3 },
  ]);
  const { origin, stop } = await serve(cwd);
  const problems: string[] = [];
  const onConsole = (line: { text(): string }) => void problems.push(line.text());
  page.on("console", onConsole);
  onTestFinished(() => void page.off("console", onConsole));
  await page.goto(origin);
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await page.locator(".is-away", { hasText: "first" }).waitFor();
  expect(await reported(cwd)).toEqual(["second", "third"]);
  expect((await stat(join(cwd, "inbox.triage.sqlite"))).mode & 0o777).toBe(0o600);

  await page.keyboard.press("s");
  expect(await page.locator(":focus").inputValue()).toBe("2026-11-25");
  await page.locator(".mail", { hasText: "second" }).getByText("Snooze until").click();
  await page.locator(".is-away", { hasText: "second" }).waitFor();
  expect(await reported(cwd)).toEqual(["third"]);
  expect(await reported(cwd, "2026-11-25")).toEqual(["second", "third"]);

  await page.locator(".mail", { hasText: "first" }).getByText("Undo").click();
  await expect.poll(() => page.locator(".is-away").count()).toBe(1);
  expect(await reported(cwd)).toEqual(["first", "third"]);
  expect(problems).toEqual([]);
  await stop();
});

test("Enter in a day snoozes until then, and u takes back the last choice", async () => {
  const cwd = await triaged(named("first", "second", "third"), [
    { importance: 5 },
    { importance: 4 },
    { importance: 3 },
  ]);
  const { origin, stop } = await serve(cwd);
  await page.goto(origin);
  const focused = async () => page.locator(".mail:focus-within .subject").textContent();
  await page.keyboard.press("j");
  await page.keyboard.press("s");
  await page.keyboard.press("Enter");
  await page.locator(".is-away", { hasText: "first" }).waitFor();
  expect(await focused()).toBe("second");
  expect(await reported(cwd, "2026-11-25")).toEqual(["first", "second", "third"]);

  await page.keyboard.press("e");
  await page.locator(".is-away", { hasText: "second" }).waitFor();
  await page.keyboard.press("u");
  await expect.poll(() => page.locator(".is-away").count()).toBe(1);
  expect(await focused()).toBe("second");
  await page.keyboard.press("u");
  await expect.poll(() => page.locator(".is-away").count()).toBe(0);
  expect(await reported(cwd)).toEqual(["first", "second", "third"]);

  await page.keyboard.press("/");
  await page.keyboard.type("third");
  await expect.poll(() => page.locator("#found-mails .mail").count()).toBe(1);
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("third");
  // The search of the last letters may end after Escape.
  await page.locator("#found-mails .mail").evaluate((mail) => mail.classList.add("is-earlier"));
  await page.locator("#search").dispatchEvent("input");
  await page.locator("#found-mails .mail:not(.is-earlier)").waitFor();
  expect(await focused()).toBe("third");
  await stop();
});

test("what is done in an earlier session is listed, and comes back by its button or by u", async () => {
  const cwd = await triaged(named("first", "second"), [{ importance: 5 }, { importance: 4 }]);
  const { origin, stop } = await serve(cwd);
  await fetch(origin);
  for (const id of ["first@example.com", "second@example.com"]) {
    expect((await post(origin, { id, choice: "done" })).status).toBe(200);
  }
  await page.goto(origin);
  const away = page.locator("#away .mail");
  expect(await away.locator(".subject").allTextContents()).toEqual(["first", "second"]);
  await away.first().getByText("Undo").click();
  await expect.poll(() => page.locator("#away .is-away").count()).toBe(1);
  expect(await reported(cwd)).toEqual(["first"]);
  await away.nth(1).locator("summary").focus();
  await page.keyboard.press("u");
  await expect.poll(() => page.locator("#away .is-away").count()).toBe(0);
  expect(await reported(cwd)).toEqual(["first", "second"]);
  expect(await problemsOn(page)).toEqual([]);
  await stop();
});

test("a sender or a section is done at once, and the last one is taken back", async () => {
  const mail = (id: string, from: string) => sampleMail({ id, subject: id, from });
  const mails = [
    mail("a", "Ada <ada@x.example>"),
    mail("b", "ADA@x.example"),
    mail("c", "bob@y.example"),
  ];
  const cwd = await triaged(mails, [{ importance: 5 }, { importance: 4 }, { importance: 5 }]);
  const { origin, stop } = await serve(cwd);
  await page.goto(origin);
  await page.getByRole("button", { name: "All done: ada@x.example" }).click();
  await page.locator("#away").waitFor();
  expect(await reported(cwd)).toEqual(["c"]);
  await page.getByRole("button", { name: "All done: Needs you" }).click();
  await expect.poll(() => page.locator("#away .mail").count()).toBe(3);
  expect(await reported(cwd)).toEqual([]);
  await page.keyboard.press("u");
  await expect.poll(() => page.locator("#away .mail").count()).toBe(2);
  expect(await reported(cwd)).toEqual(["c"]);
  expect(await page.getByText("Undo the last").count()).toBe(0);
  for (const group of ["sender:nobody@example.com", "last"]) {
    expect((await post(origin, { group, choice: "open" })).status).toBe(400);
  }
  await stop();
});

test("a right answer is a label that corrects, of the mail that is shown", async () => {
  const cwd = await triaged(named("calm"));
  const { origin } = await serve(cwd);
  await page.goto(origin);
  await page.keyboard.press("j");
  await page.keyboard.press("w");
  await page.locator(":focus").selectOption("scam:0");
  await page.getByText("Answer was wrong").click();
  await expect.poll(() => page.locator("#saved").textContent()).toBe("Saved.");
  expect(await labelsIn(cwd)).toEqual([
    {
      id: "calm@example.com",
      question: "scam",
      truth: true,
      labeler: "person",
      origin: "override",
    },
  ]);
  expect((await stat(join(cwd, "inbox.labels.ndjson"))).mode & 0o777).toBe(0o600);
});

test("a conversation that is done returns when a mail joins it", async () => {
  const mail = (id: string, ...references: string[]) =>
    sampleMail({ id, subject: id, headers: { messageId: id, references } });
  const cwd = await triaged([mail("a"), mail("b", "a"), mail("other")]);
  const { origin, stop } = await serve(cwd);
  await fetch(origin);
  expect((await post(origin, { id: "a", choice: "done" })).status).toBe(200);
  expect(await reported(cwd)).toEqual(["other"]);
  await stop();
  const mails = [mail("a"), mail("b", "a"), mail("other"), mail("c", "b")];
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(mails));
  await run(cwd);
  expect((await reported(cwd)).toSorted()).toEqual(["a", "other"]);
});

test("a choice is kept while a run has the journal", async () => {
  const cwd = await triaged(named("calm", "other"));
  const { origin } = await serve(cwd);
  await fetch(origin);
  const transport = recordingTransport();
  const path = join(cwd, "inbox.triage.sqlite");
  using journal = openJournal(path, { questions: triageQuestions("the user"), transport });
  await journal.begin({ key: "a call under way" });
  expect((await post(origin, { id: "calm@example.com", choice: "done" })).status).toBe(200);
  expect(await reported(cwd)).toEqual(["other"]);
});

test("five random mails a week are labelled without their answers", async () => {
  const cwd = await triaged(named(..."a b c d e f g h i j k l".split(" ")));
  const { origin, stop } = await serve(cwd);
  await page.goto(origin);
  await page.getByText("Label this week's five random mails").click();
  for (let left = 5; left > 0; left -= 1) {
    expect(await page.locator("main").textContent()).not.toMatch(/0\.\d\d/);
    await page.keyboard.press("n");
    await page.waitForURL(new RegExp(`from=${6 - left}`));
  }
  await page.getByText("All labelled").waitFor();
  const labels = await labelsIn(cwd);
  expect(labels).toHaveLength(5);
  expect(labels[0]).toMatchObject({ question: "scam", origin: "spot-check" });
  await page.keyboard.press("Escape");
  await page.waitForURL(`${origin}/`);
  expect(await page.locator(".note").allTextContents()).toContain(
    "Spot checks: 5 of 40 for an audit.",
  );
  await stop();
  // The same week asks no others; the next one does.
  const shown = async (day: string) => {
    const { origin: again, stop: end } = await serve(cwd, day);
    const text = await (await fetch(`${again}/check/?question=scam`)).text();
    await end();
    return /(\d of \d) labelled/.exec(text)?.[1];
  };
  expect(await shown("2026-11-25")).toBe("5 of 5");
  expect(await shown("2026-12-03")).toBe("0 of 5");
});

test("a request of another page, and a form that is no choice, change nothing", async () => {
  const cwd = await triaged(named("calm"));
  const { origin } = await serve(cwd);
  await fetch(origin);
  const id = "calm@example.com";
  const foreign = await post(origin, { id, choice: "done" }, { origin: "http://evil.example" });
  expect(foreign.status).toBe(403);
  const forms: Record<string, string>[] = [
    {},
    { id: "other", choice: "done" },
    { id, choice: "drop" },
    { id, choice: "snooze", until: "soon" },
    { id, choice: "wrong", right: "scam:2" },
    { id, choice: "wrong", right: "" },
  ];
  for (const form of forms) expect((await post(origin, form)).status).toBe(400);
  expect(await reported(cwd)).toEqual(["calm"]);
});

test("axe finds nothing on the served page, light and dark, and nothing is wider", async () => {
  const cwd = await triaged(named("first", "second"), [{ importance: 5 }]);
  const { origin } = await serve(cwd);
  await page.goto(origin);
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await page.locator(".is-away").waitFor();
  await page.keyboard.press("w");
  expect(await problemsOn(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 900 });
});
