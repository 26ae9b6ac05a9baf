import { expect, test } from "vitest";
import { problemsOn } from "evaluator-kit/browser";
import { openPage, send } from "../testing/open-page.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { readNotes } from "../testing/read-notes.ts";

/** A page whose router keeps its decisions. */
async function openLogged() {
  const { path, log } = await openTestLog();
  return { path, log, ...(await openPage({}, { parts: { log } })) };
}

test("the tiers stand there with their models and prices before the first message", async () => {
  const { page, problems } = await openPage();
  const tiers = page.locator("#tiers li");
  await tiers.nth(3).waitFor();
  expect(await tiers.first().innerText()).toMatch(
    /nano\s+openai\/gpt-5-nano\s+\$0\.05 in, \$0\.4 out/,
  );
  expect(await tiers.nth(1).innerText()).toContain("price unknown");
  expect(problems).toEqual([]);
});

test("the next tier replies beside the first, and what it says is copied", async () => {
  const { page, problems, router } = await openLogged();
  const { origin } = router;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  const answer = await send(page, "hi");
  await answer.getByRole("button", { name: "Ask fast as well" }).click();
  const second = answer.locator(".second .reply");
  await second.waitFor();
  expect(await answer.locator(".by").allInnerTexts()).toEqual(["nano", "fast"]);
  await answer.getByRole("button", { name: "Copy the reply" }).click();
  await answer.locator(".copy-reply[data-state=copied]").waitFor();
  const copied = await page.evaluate("navigator.clipboard.readText()");
  expect(copied).toContain("local emulator");
  expect(problems).toEqual([]);
});

test("what somebody says of the tier is kept", async () => {
  const { page, path, log } = await openLogged();
  const answer = await send(page, "hi");
  expect(await answer.locator(".was-too-high").isVisible()).toBe(false); // nothing is cheaper
  await answer.getByRole("button", { name: "It needed a better one" }).click();
  await answer.getByText("Noted: fast would have been right.").waitFor();
  await log.close();
  expect(await readNotes(path)).toMatchObject([{ feedback: "fast" }]);
});

test("a session is there again after a reload, until it is forgotten", async () => {
  const { page, problems } = await openPage();
  await send(page, "hi");
  await page.reload();
  const kept = page.getByRole("article");
  await kept.waitFor();
  expect(await kept.locator(".badge").innerText()).toBe("nano");
  expect(await kept.locator(".reply").innerText()).toContain("local emulator");
  await page.getByRole("button", { name: "Forget this session" }).click();
  await kept.waitFor({ state: "detached" });
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  expect(problems).toEqual([]);
});

test("a choice in doubt looks like one, and a clear one does not", async () => {
  const probabilities = { nano: 0.4, fast: 0.35, balanced: 0.15, frontier: 0.1 };
  const close = {
    answers: { tier: { type: "choice", choice: "nano", probabilities } },
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 1, outputTokens: 1 },
    warnings: [],
    providerMetadata: {},
  };
  const { page } = await openPage({ evaluation: () => Response.json(close) });
  const answer = await send(page, "hi");
  expect(await answer.locator(".cause").innerText()).toBe(
    "A choice in doubt: nano 40 %, fast 35 %.",
  );
  expect(await answer.locator(".decision.doubtful").count()).toBe(1);
  const { page: other } = await openPage();
  expect(await (await send(other, "hi")).locator(".doubtful").count()).toBe(0);
});

test("a program is shown where to ask, with settings to copy that work", async () => {
  const { page, router } = await openPage();
  await page.getByText("Use it from a program").click();
  expect(await page.locator("#base").innerText()).toBe(`${router.origin}/v1`);
  const line = await page.locator("#settings").innerText();
  const [, url = "", body = ""] = /^curl (\S+) .* -d '(.+)'$/.exec(line) ?? [];
  const headers = { "content-type": "application/json" };
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  await page.getByLabel("Settings for").selectOption("Claude Code");
  expect(await page.locator("#settings").innerText()).toContain(
    `ANTHROPIC_BASE_URL=${router.origin}\n`,
  );
});

test("no copy button covers code", async () => {
  const reply = () => replyStream([`\`\`\`\nconst wide = "${"w".repeat(300)}";\n\`\`\`\n`]);
  const { page } = await openPage({ reply });
  await page.getByText("Use it from a program").click();
  const answer = await send(page, "hi");
  for (const code of [answer.locator(".code"), page.locator(".program .code")]) {
    const [button, text] = [
      await code.locator(".copy").boundingBox(),
      await code.locator("pre").boundingBox(),
    ];
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(text?.y ?? 0);
  }
});

test("after a message, the page shows the rest of the key's budget, and warns if it is nearly spent", async () => {
  const { page } = await openPage();
  const budget = { remainingUsd: 0.75, isNear: false, resetAt: "2026-12-01T00:00:00.000Z" };
  const answers = [budget, { ...budget, remainingUsd: 0.1, isNear: true }];
  await page.route("**/v1/key", (route) =>
    route.fulfill({ json: { name: "alice", budget: answers.shift() } }),
  );
  await send(page, "hi");
  await page.getByText("Budget of alice: $0.75 left until").waitFor();
  await send(page, "hi again");
  await page.getByText("at most the cheapest tier answers").waitFor();
  expect(await page.locator("#budget").getAttribute("class")).toBe("banner");
});

test("with a log, axe finds nothing in any look of the page, and a message is in the list", async () => {
  const { page, log, problems } = await openLogged();
  await send(page, "hi");
  expect(await problemsOn(page)).toEqual([]);
  await log.written();
  await page.getByRole("link", { name: "Decisions" }).click();
  expect(await page.locator("tbody tr").allInnerTexts()).toEqual([expect.stringContaining("nano")]);
  expect(problems).toEqual([]);
});
