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

test("a row has one word for its level, that of its filter too", async () => {
  const cwd = await triaged(named("torn"), [{ levels: [0.5, 0, 0.1, 0, 0, 0.4] }]);
  const { texts } = await reports.open(await reportOf(cwd));
  expect(await texts(".level")).toEqual(["2.2medium"]);
  const [row = ""] = await texts("summary");
  expect(row.match(/ignore|low|medium|high|critical|insane/g)).toEqual(["medium"]);
  expect(await texts("#section optgroup[label=Importance]")).toEqual(["medium (1)"]);
});
