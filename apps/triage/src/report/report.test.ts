import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  named,
  ReportPages,
  reportOf,
  responseWith,
  run,
  triaged,
} from "../testing/report-pages.ts";
import { recordingTransport, sampleMail } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const nasty = `</td></script><script>document.title = "owned"</script><img src="http://evil.example/x" onerror="document.title='owned'">\u202e"'$(touch owned)`;

const reports = new ReportPages();
afterAll(() => reports.close());

test("a list to act on: what needs somebody, scams, deals, the rest, doubts, no answers", async () => {
  const names = ["urgent", "calm", "phish", "deal", "reminder", "doubtful", "important phish"];
  const cwd = await triaged(named(...names), [
    { importance: 4 },
    {},
    { scam: 0.9 },
    { deal: 0.8 },
    { category: "personal_reminder" },
    { confidence: 0.3 },
    { importance: 5, scam: 0.95 },
  ]);
  const { page, texts, requests } = await reports.open(await reportOf(cwd), {
    javaScriptEnabled: false,
  });
  const found = await page
    .locator("#sections section")
    .evaluateAll((sections) =>
      sections.map((section) => [
        section.querySelector("h2")?.firstChild?.textContent.trim(),
        ...[...section.querySelectorAll(".subject")].map(({ textContent }) => textContent),
      ]),
    );
  expect(found).toEqual([
    ["Needs you", "urgent"],
    ["Scams: do not touch", "important phish", "phish"],
    ["Deals", "deal"],
    ["Receipt", "calm"],
    ["Personal reminder", "reminder"],
    ["Unsure", "doubtful"],
  ]);
  expect((await texts(".why")).slice(0, 2)).toEqual(["receipt 1.00", "receipt 1.00"]);
  expect(await texts("#unsure .why")).toEqual(["receipt 1.00 · in doubt: category conf 0.30"]);
  expect(await texts(".basis")).toEqual([
    "unknown through gateway answered 7 of 7 mails, last on 2026-11-21 00:00 UTC, for $0.000088. Not calibrated: check the probabilities with evaluator-triage label and evaluator-cli calibrate.",
  ]);
  expect(requests).toEqual([page.url()]);
});

test("a row has the sender's real address, its answers as bars and in words, and the way back", async () => {
  const from = `"Support <help@bank.example>" <thief@evil.example>`;
  const cwd = await triaged([sampleMail({ id: "a'b@example.com", from })]);
  const { page, texts } = await reports.open(await reportOf(cwd));
  expect(await texts(".from")).toEqual(["Support <help@bank.example> thief@evil.example"]);
  expect(await texts(".tag")).toEqual(["the name shows another address"]);
  expect(await texts(".answer-name")).toEqual(["Category", "Importance", "Brand deal", "Scam"]);
  expect(await texts(".answer-value")).toEqual(["receipt", "0.00", "0.00", "0.00"]);
  await page.locator(".mail summary").click();
  expect(await texts("dd")).toContain("answer receipt · confidence 0.9 · receipt 1.00");
  expect(await page.locator(".way-back a").getAttribute("href")).toBe(
    "https://mail.google.com/mail/#search/rfc822msgid%3Aa'b%40example.com",
  );
  expect(await texts("code")).toEqual(["a'b@example.com"]);
});

test("a mail without a link is found by its file and byte, or by its subject", async () => {
  const source = { file: "mail/all.mbox", offset: 123_456 };
  const server = { account: "me@imap.example.com", folder: "INBOX", uid: 7 };
  const cwd = await triaged([
    sampleMail({ id: "a@b.example", source }),
    sampleMail({ id: "18c0ffee18c0ffee", subject: "Another" }),
    sampleMail({ id: "0b1c2d3e4f", subject: "No Message-ID", source: server }),
  ]);
  const { page, texts } = await reports.open(await reportOf(cwd));
  expect(await texts(".way-back")).toEqual([
    "It is in mail/all.mbox, byte 123,456. serve --source PATH saves it as .eml.",
    "Show it in Gmail",
    "Search for its subject in your mail program.",
  ]);
  expect(await page.locator(".way-back a").getAttribute("href")).toBe(
    "https://mail.google.com/mail/#all/18c0ffee18c0ffee",
  );
});

test("what a mail says runs nothing, fetches nothing and stays text, in the list that a script makes as well", async () => {
  const fields = {
    id: `${nasty}@x`,
    subject: nasty,
    from: `${nasty} <a@b.example>`,
    snippet: nasty,
  };
  const cwd = await triaged([sampleMail(fields), ...named("calm")], [{ importance: 5 }]);
  await writeFile(join(cwd, "rules.txt"), `scam < 0.5 -> ${nasty}`);
  const path = await reportOf(cwd, "--rules", "rules.txt");
  expect(await readFile(path, "utf8")).not.toMatch(/<img|\u202e/);
  const { page, requests, texts } = await reports.open(path);
  const shown = (selector: string) => texts(`${selector} .mail:first-child .subject`);
  expect((await shown("#sections"))[0]).toContain(`</script><script>document.title = "owned"`);
  await page.fill("#search", "EVIL.example owned");
  await page.locator("#found-mails .mail").waitFor();
  expect((await shown("#found"))[0]).toContain(`<img src="http://evil.example/x" onerror=`);
  expect(await page.locator(".mail :is(script, img)").count()).toBe(0);
  expect(await page.title()).toBe("Triage of 2 mails");
  expect(requests).toEqual([page.url()]);
});

const many = Array.from({ length: 130 }, (_, index) =>
  sampleMail({
    id: `m-${index}@example.com`,
    date: `2026-${String(1 + (index % 12)).padStart(2, "0")}-10`,
    from: `Sender ${String(index % 5)} <s${index % 5}@example.com>`,
    subject: `About ${index}`,
  }),
);

test("a long list is paged, searched, sorted and shown by section, all of it from one small file", async () => {
  const cwd = await triaged(many, [{ importance: 5 }]);
  const path = await reportOf(cwd);
  expect((await readFile(path, "utf8")).length).toBeLessThan(200_000);
  const { page, texts } = await reports.open(path);
  expect(await page.locator("#sections .mail").count()).toBe(1 + 25);
  await page.locator("button[data-section]").click();
  const status = page.locator("#found-status");
  await expect.poll(() => status.textContent()).toBe("1 to 50 of 129");
  await page.click("#next");
  await page.click("#next");
  await expect.poll(() => status.textContent()).toBe("101 to 129 of 129");
  await page.selectOption("#section", "");
  await page.check("#order-newest");
  await expect.poll(async () => (await texts("#found time"))[0]).toBe("2026-12-10");
  expect(await status.textContent()).toBe("1 to 50 of 130");
  await page.fill("#search", "sender 4 about 12");
  await expect.poll(() => texts("#found .subject")).toEqual(["About 129", "About 124"]);
  await page.fill("#search", "nobody");
  await expect.poll(() => status.textContent()).toBe("No match.");
  await page.fill("#search", "");
  await page.check("#order-urgent");
  await expect.poll(() => page.locator("#sections").isVisible()).toBe(true);
});

test("without a script the rows are sorted by day by style; with it the new ones are shown alone", async () => {
  const days = ["2026-11-01", "2026-11-03", "2026-11-02"];
  const mails = days.map((date, at) => sampleMail({ id: `m-${at}`, subject: date, date }));
  const cwd = await triaged(mails.slice(0, 2));
  await writeFile(join(cwd, "inbox.json"), JSON.stringify(mails));
  await run(cwd, [], "2026-11-28");
  const path = await reportOf(cwd);
  const { page, texts } = await reports.open(path, { javaScriptEnabled: false });
  expect(await texts(".note")).toEqual(["1 mail is new since the run of 2026-11-21."]);
  const seen = async () => {
    const rows = await page.locator(".mail").filter({ visible: true }).all();
    const places = rows.map(async (row) => ({
      y: (await row.boundingBox())?.y ?? 0,
      subject: await row.locator(".subject").textContent(),
    }));
    return (await Promise.all(places)).toSorted((one, other) => one.y - other.y);
  };
  await page.check("#order-newest");
  expect((await seen()).map(({ subject }) => subject)).toEqual(
    ["2026-11-03", "2026-11-02new", "2026-11-01"].map((text) => text.replace("new", " new")),
  );
  const scripted = await reports.open(path);
  await scripted.page.selectOption("#section", "new");
  await expect.poll(() => scripted.texts("#found .subject")).toEqual(["2026-11-02 new"]);
});

test("--since and --only leave the others out, and the page says so", async () => {
  const cwd = await triaged(many.slice(0, 36), [{ importance: 5 }]);
  const path = await reportOf(cwd, "--since", "2026-12-01", "--only", "importance < 5");
  const { texts } = await reports.open(path);
  expect(await texts(".note")).toEqual([
    "Shown are 3 of 36 mails: since 2026-12-01, only importance < 5.",
  ]);
  expect(await texts("h2 .count")).toEqual(["3", ""]);
});

test("rules are a plan on paper: what each takes, whether it was promised, and each mail's action", async () => {
  const cwd = await triaged(named("phish", "calm"), [{ scam: 0.95 }]);
  await writeFile(join(cwd, "rules.txt"), "scam >= 0.9 → junk\ncategory = receipt → archive\n");
  const { texts } = await reports.open(await reportOf(cwd, "--rules", "rules.txt"));
  expect(await texts("#plan tbody tr")).toEqual([
    "scam >= 0.9 → junk 1 no promise: no calibration (--calibration)",
    "category = receipt → archive 1 no promise: no calibration (--calibration)",
    "no rule stays 0",
  ]);
  expect(await texts("#sections .tag-act")).toEqual(["→ junk", "→ archive"]);
});

test("mails without an answer are in the list, and say why", async () => {
  const cwd = await folderWith(named("lost", "calm"));
  const transport = recordingTransport((index) => (index === 0 ? {} : responseWith({})));
  await startTriage(["inbox.json"], { cwd, transport });
  const { texts } = await reports.open(await reportOf(cwd));
  expect(await texts("#no-answer .subject")).toEqual(["lost"]);
  expect((await texts("#no-answer .why"))[0]).toMatch(/answer/);
});

test("own questions have their sections and bars with nothing else to write, and long names fit", async () => {
  const support = `Support ${"for whoever asks ".repeat(6).trim()}`;
  const questions = {
    needs_reply: { type: "boolean", instructions: "Does it need a reply?" },
    urgency: { type: "score", instructions: "How urgent?", criteria: ["none", "deadline: soon"] },
    team: { type: "choice", instructions: "Whose?", criteria: { sales: "a", [support]: "b" } },
  };
  const answer = (reply: number, urgent: number, team: string) => ({
    ...responseWith({}),
    answers: {
      needs_reply: { type: "boolean", probability: reply },
      urgency: { type: "score", score: urgent, probabilities: { "0": 1 - urgent, "1": urgent } },
      team: {
        type: "choice",
        choice: team,
        probabilities: { sales: Number(team === "sales"), [support]: Number(team === support) },
      },
    },
  });
  const answers = [answer(0.9, 0, "sales"), answer(0, 0.75, "sales"), answer(0.1, 0, support)];
  const cwd = await folderWith(named("reply", "urgent", "rest"));
  await writeFile(join(cwd, "questions.json"), JSON.stringify(questions));
  const transport = recordingTransport((index) => answers[index]);
  await startTriage(["inbox.json", "--questions", "questions.json"], { cwd, transport });
  const path = await reportOf(cwd);
  expect(await reports.problemsIn(path)).toEqual([]);
  const { page, texts } = await reports.open(path);
  const titles = await texts("#sections h2");
  expect(titles).toEqual(["Needs you 1", "Needs reply 1", `${support.slice(0, 70)}… 1`]);
  expect(await texts(".mail:first-child .level-name")).toEqual(["deadline", "none", "none"]);
  expect(await page.locator("figcaption").allTextContents()).toContain("Teammails by option");
});

test("nothing is wrong at any width, light, dark and on paper", async () => {
  const cwd = await triaged(named("phish", "urgent", "x".repeat(300)), [{ scam: 0.95 }]);
  await writeFile(join(cwd, "rules.txt"), "scam >= 0.9 → junk\n");
  const path = await reportOf(cwd, "--rules", "rules.txt");
  expect(await reports.problemsIn(path)).toEqual([]);
});
