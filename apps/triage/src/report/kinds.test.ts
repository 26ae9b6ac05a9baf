import { afterAll, expect, test } from "vitest";
import { named, ReportPages, reportOf, triaged } from "../testing/report-pages.ts";

const reports = new ReportPages();
afterAll(() => reports.close());

test("every mail of a kind is found under its kind, whichever section holds it", async () => {
  const names = ["urgent news", "news scam", "plain news", "deal", "urgent receipt"];
  const cwd = await triaged(named(...names), [
    { category: "newsletter", importance: 5 },
    { category: "newsletter", scam: 0.9 },
    { category: "newsletter" },
    { deal: 0.8, scam: 0.6 },
    { importance: 4 },
  ]);
  const { page, texts } = await reports.open(await reportOf(cwd));
  expect(await texts("#section optgroup")).toEqual([
    "Needs you (2)Scams: do not touch (2)Newsletter (1)",
    "receipt (2)newsletter (3)",
    "ignore (3)critical (1)insane (1)",
    "Brand deal: yes (1)",
    "Scam: yes (2)",
  ]);
  const found = async (label: string) => {
    await page.selectOption("#section", { label });
    await expect.poll(() => page.locator("#found-status").textContent()).not.toBe("Looking…");
    return (await texts("#found .subject")).toSorted();
  };
  expect(await found("newsletter (3)")).toEqual(["news scam", "plain news", "urgent news"]);
  expect(await found("Newsletter (1)")).toEqual(["plain news"]);
  expect(await found("Scam: yes (2)")).toEqual(["deal", "news scam"]);
  expect(await found("critical (1)")).toEqual(["urgent receipt"]);
  await page.selectOption("#section", { label: "newsletter (3)" });
  await page.fill("#search", "urgent");
  await expect.poll(() => texts("#found .subject")).toEqual(["urgent news"]);
  await page.fill("#search", "");
  await page.selectOption("#section", "");
  await expect.poll(() => page.locator("#sections").isVisible()).toBe(true);
});

test("a deadline needs the likeliest level or half of the shares", async () => {
  const names = ["neither", "likeliest", "half", "flat"];
  const cwd = await triaged(named(...names), [
    { levels: [0.5, 0.05, 0, 0, 0.25, 0.2] },
    { levels: [0.35, 0.1, 0.1, 0.05, 0.4, 0] },
    { levels: [0.4, 0.1, 0, 0, 0.3, 0.2] },
    { levels: [0.17, 0.17, 0.17, 0.17, 0.17, 0.17] },
  ]);
  const { texts } = await reports.open(await reportOf(cwd));
  expect((await texts("#deadlines .subject")).toSorted()).toEqual(["half", "likeliest"]);
  expect(await texts("#deadlines .about")).toEqual([
    "Answers whose own words speak of a deadline or a reminder: category personal_reminder, or importance “critical” or higher, as the likeliest answer or at 0.5 or more.",
  ]);
});

test("a row has one word for its level, that of its filter too", async () => {
  const cwd = await triaged(named("torn"), [{ levels: [0.5, 0, 0.1, 0, 0, 0.4] }]);
  const { texts } = await reports.open(await reportOf(cwd));
  expect(await texts(".level")).toEqual(["2.2medium"]);
  const [row = ""] = await texts("summary");
  expect(row.match(/ignore|low|medium|high|critical|insane/g)).toEqual(["medium"]);
  expect(await texts("#section optgroup[label=Importance]")).toEqual(["medium (1)"]);
});
