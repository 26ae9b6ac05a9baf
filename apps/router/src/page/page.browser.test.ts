import { expect, test } from "vitest";
import { calibrationOf } from "../testing/calibration-of.ts";
import { send, openPage } from "../testing/open-page.ts";
import { servicesOfEmulator } from "../testing/test-router.ts";

test("a greeting shows the nano badge, the bars, the facts and the reply", async () => {
  const { page, problems } = await openPage();
  const answer = await send(page, "hi");
  expect(await answer.getByRole("heading").innerText()).toBe("hi");
  expect(await answer.locator(".badge").innerText()).toBe("nano");
  expect(await answer.locator(".model").innerText()).toBe("openai/gpt-5-nano");
  expect(await answer.locator(".shares").innerText()).toMatch(
    /^nano\s+97 %\s+fast\s+2 %\s+balanced\s+< 1 %\s+frontier\s+< 1 %$/,
  );
  expect(await answer.locator(".facts").innerText()).toMatch(
    /^confidence\s+0\.96\s+decided in\s+\d+ ms\s+replied in\s+\d+ ms\s+tokens\s+\d+ in, \d+ out\s+cost\s+\$0\.0000\d+\s+frontier would cost\s+\$0\.0\d+$/,
  );
  expect(await answer.locator(".reply").innerText()).toContain("local emulator");
  expect(await answer.locator(".reply-error, .failure").filter({ visible: true }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test.each([
  [0.97, "at most 2.5 % wrong"],
  [0.98, "none"],
])("with a choice promised at %s, the promise of a greeting is: %s", async (threshold, promise) => {
  const locked = { maxRisk: 0.025, confidence: 0.95, n: 120, wrong: 0 };
  const calibration = {
    ...calibrationOf("typesafe-ai/jev"),
    thresholds: [{ question: "tier", action: "top" as const, threshold, ...locked }],
  };
  const { page } = await openPage({}, { parts: { calibration } });
  const answer = await send(page, "hi");
  expect(await answer.locator(".facts").innerText()).toMatch(
    new RegExp(`^calibrated from\\s+97 %\\s+promise\\s+${promise}\\s+decided in`),
  );
});

test("a failed reply is red, and the decision stays", async () => {
  const error = { message: "Free tier users do not have access to this model.", type: "forbidden" };
  const { page, problems } = await openPage({
    reply: () => Response.json({ error }, { status: 403 }),
  });
  const answer = await send(page, "hi");
  const failure = answer.locator(".reply-error");
  expect(await answer.locator(".badge").innerText()).toBe("nano");
  expect(await failure.innerText()).toBe(`The reply failed\n${error.message}`);
  const color = await page.evaluate(
    "getComputedStyle(document.querySelector('.reply-error')).color",
  );
  expect(color).toBe("rgb(180, 35, 24)");
  expect(await answer.locator(".reply").isVisible()).toBe(false);
  expect(problems).toEqual([]);
});

test("a failed evaluation shows its error, and the next message works", async () => {
  const error = { message: "Model is being moved.", type: "internal_server_error" };
  const { page } = await openPage({ evaluation: () => Response.json({ error }, { status: 500 }) });
  const answer = await send(page, "hi");
  expect(await answer.locator(".failure").innerText()).toContain("Model is being moved.");
  expect(await answer.locator(".decision").isVisible()).toBe(false);
  await send(page, "hi again");
  expect(await page.getByRole("article").count()).toBe(2);
});

test("a router that is gone differs from one that failed", async () => {
  const { page, router } = await openPage();
  await page.route("**/chat", (route) => route.abort("connectionrefused"));
  const answer = await send(page, "hi");
  expect(await answer.locator(".failure").innerText()).toContain("The router cannot be reached");
  expect(router.seen).toEqual([]);
});

test("what the policy did is said beside the badge", async () => {
  const { page } = await openPage({}, { env: { ROUTER_MIN_CONFIDENCE: "0.97" } });
  const answer = await send(page, "hi");
  expect(await answer.locator(".badge").innerText()).toBe("fast");
  expect(await answer.locator(".cause").innerText()).toContain("The choice was nano");
  expect(await answer.locator(".share.chosen dt").innerText()).toBe("nano");
});

test("the totals of the page grow", async () => {
  const { page } = await openPage();
  await send(page, "hi");
  await send(page, "hi");
  expect(await page.locator("#totals").innerText()).toMatch(
    /^This page: 2 replies, \d+ tokens, \$0\.\d+; on the frontier tier \$0\.\d+: \$0\.\d+ saved\.$/,
  );
});

test("a blank message is not sent, and one at a time is enough", async () => {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<Response>();
  const { page, router } = await openPage({
    evaluation: () => {
      reached.resolve();
      return release.promise;
    },
  });
  await page.getByLabel("Message").fill("  ");
  await page.keyboard.press("Enter");
  await page.getByLabel("Message").fill("one");
  await page.keyboard.press("Enter");
  await reached.promise;
  await page.getByLabel("Message").fill("two");
  await page.keyboard.press("Enter");
  release.resolve(new Response("", { status: 400 }));
  await page.getByRole("article").locator(".failure").waitFor();
  expect(await page.getByRole("article").count()).toBe(1);
  expect(await page.getByLabel("Message").inputValue()).toBe("two");
  expect(router.seen).toHaveLength(1);
});

test("the page says who answers", async () => {
  const { page } = await openPage();
  expect(await page.getByRole("complementary").innerText()).toBe("Answers come from a test.");
});

test("the page names the emulator behind a port once it has answered, and nobody before", async () => {
  const services = await servicesOfEmulator();
  const { page, problems } = await openPage({}, { parts: { services } });
  const decider = page.locator("#decider");
  await decider.filter({ visible: true }).waitFor();
  expect(await decider.innerText()).toBe(
    "No model has answered yet, so the deciding model is unknown.",
  );
  expect(await page.getByRole("complementary").innerText()).toContain("Decisions are asked of");
  await send(page, "Which of these is it, by the way?");
  await page.locator("#decider.banner").waitFor();
  expect(await decider.innerText()).toBe(
    "The latest decision was made by the emulator (as local/lexical-1), not by a model.",
  );
  await page.reload();
  await page.locator("#decider.banner").waitFor();
  expect(problems).toEqual([]);
});
