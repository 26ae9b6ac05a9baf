import { afterAll, expect, test } from "vitest";
import { ReportPages, reportOf, triaged } from "../testing/report-pages.ts";
import { sampleMail } from "../testing/samples.ts";
import { startTriage } from "../testing/start-triage.ts";

const reports = new ReportPages();
afterAll(() => reports.close());
const at = (hour: number) => `2026-11-02T${String(hour).padStart(2, "0")}:00:00Z`;

test("a conversation is one row with its highest mail, and the filters find each of its answers", async () => {
  const headers = (messageId: string, ...references: string[]) => ({ messageId, references });
  const mails = [
    sampleMail({ id: "1", subject: "Plan", received: at(9), headers: headers("a") }),
    sampleMail({ id: "2", subject: "Re: Plan", received: at(10), headers: headers("b", "a") }),
    sampleMail({ id: "3", subject: "Other", received: at(11), headers: headers("c") }),
  ];
  const cwd = await triaged(mails, [{}, { importance: 5, category: "newsletter" }, {}]);
  const { page, texts } = await reports.open(await reportOf(cwd));
  expect(await texts("#sections .subject")).toEqual(["Re: Plan 2 mails", "Other"]);
  expect(await texts("#section optgroup[label=Category]")).toEqual(["receipt (2)newsletter (1)"]);
  await page.selectOption("#section", { label: "receipt (2)" });
  await expect
    .poll(async () => (await texts("#found .subject")).toSorted())
    .toEqual(["Other", "Plan 2 mails"]);
  await page.selectOption("#section", "");
});

test("the last mail of a conversation decides who waits, from the user's own addresses", async () => {
  const mail = (id: string, from: string, hour: number, ...references: string[]) =>
    sampleMail({
      id,
      from,
      subject: id,
      received: at(hour),
      headers: { messageId: id, references },
    });
  const cwd = await triaged([
    mail("a", "bo@x.example", 9),
    mail("b", "Ada <ada@x.example>", 10, "a"),
    mail("c", "ada@x.example", 9),
    mail("d", "bo@x.example", 10, "c"),
    mail("e", "bo@x.example", 10),
  ]);
  const env = { TRIAGE_USER_ADDRESSES: "ada@x.example" };
  await startTriage(["report", "inbox.json"], { cwd, env });
  const { texts } = await reports.open(`${cwd}/inbox.triage.html`);
  expect((await texts("#sections .tag")).toSorted()).toEqual(
    ["2 mails", "2 mails", "waiting for them", "waiting for you"].toSorted(),
  );
});

test("signs of a forged sender are beside the bars, and senders have their links", async () => {
  const from = "Bank <help@bank.example>";
  const unsubscribe = "https://bank.example/out?a=1&b=2";
  const headers = {
    checks: { spf: "pass", dmarc: "fail" },
    replyTo: "x@evil.example",
    unsubscribe,
    oneClick: true as const,
  };
  const first = { id: "1", subject: "One", from, received: at(9), headers };
  const later = { id: "2", subject: "Two", from, received: at(10) };
  const scam = { id: "3", subject: "Three", from: "a@evil.example", headers };
  const cwd = await triaged([first, later, scam].map(sampleMail), [
    {},
    { importance: 3 },
    { scam: 0.9 },
  ]);
  const { page, texts } = await reports.open(await reportOf(cwd));
  expect(await texts("#sections .signs")).toEqual([
    "",
    "DMARC fail · first mail of this address",
    "DMARC fail · replies go to evil.example · first mail of this address",
  ]);
  expect(await texts("#senders tbody tr")).toEqual([
    "help@bank.example unsubscribe (one click) 2 1.5",
    "a@evil.example 1 0.0",
  ]);
  expect(await page.locator("#senders a").getAttribute("href")).toBe(unsubscribe);
});
