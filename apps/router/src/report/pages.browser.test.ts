import { problemsOn } from "evaluator-kit/browser";
import { appendFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { tierNames } from "../decision/tier-question.ts";
import { loggedRecord } from "../testing/logged-record.ts";
import { openPage } from "../testing/open-page.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { readNotes } from "../testing/read-notes.ts";

/** Opens a router's page on a log of many messages. */
async function openLogged() {
  const { path, log } = await openTestLog();
  const shares = { nano: 0.71, fast: 0.2, balanced: 0.09, frontier: 0 };
  const lines = Array.from({ length: 140 }, (_, at) => {
    const [tierUsed, requestId] = [tierNames[at % 4], `request-${at}`];
    const model = `maker/${"a-model-with-a-very-".repeat(2)}long-name-${at % 4}`;
    const more = { requestId, tierUsed, model, key: "alice", probabilities: shares, replyMs: 1234 };
    return `${JSON.stringify({ ...loggedRecord, ...more })}\n`;
  });
  await appendFile(path, lines.join(""));
  const opened = await openPage({}, { parts: { log } });
  return { ...opened, path };
}

test("from the list to a message, and a thumb, without a script", async () => {
  const { page, problems, path } = await openLogged();
  await page.getByRole("link", { name: "Decisions" }).click();
  await page.getByLabel("tier").selectOption("fast");
  await page.getByRole("button", { name: "Filter" }).click();
  expect(await page.locator("tbody tr").count()).toBe(35);
  expect(await page.getByLabel("tier").inputValue()).toBe("fast");
  await page.locator("tbody a").first().click();
  await page.getByRole("button", { name: "Thumb up" }).click();
  await page.getByText("Noted: up.").waitFor();
  expect(await readNotes(path)).toEqual([{ requestId: "request-137", thumb: "up" }]);
  expect(problems).toEqual([]);
});

test("a long model id is broken into lines, so that all columns are in the window", async () => {
  const { page, router } = await openLogged();
  await page.goto(`${router.origin}/decisions`);
  const { width = 0, x = 0 } = (await page.getByRole("region").boundingBox()) ?? {};
  const last = await page.getByRole("columnheader", { name: "ms" }).boundingBox();
  expect(last?.x).toBeGreaterThan(0);
  expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(x + width);
});

test("a filter is kept on the older pages", async () => {
  const { page, router } = await openLogged();
  await page.goto(`${router.origin}/decisions?key=alice`);
  await page.getByRole("link", { name: "Older" }).click();
  expect(await page.locator("tbody tr").count()).toBe(40);
  expect(await page.getByLabel("key").inputValue()).toBe("alice");
});

test.each(["/decisions", "/decisions/request-1", "/spend"])(
  "%s is accessible at every width, light and dark",
  async (address) => {
    const { page, router, problems } = await openLogged();
    await page.goto(router.origin + address);
    expect(await problemsOn(page)).toEqual([]);
    expect(await page.locator("h1").count()).toBe(1);
    expect(await page.locator("pre").count()).toBe(0);
    expect(problems).toEqual([]);
  },
);
