import { launchBrowser } from "evaluator-fixtures/browser";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startTestRouter } from "../testing/start-test-router.ts";
import type { Differences } from "../testing/test-gateway.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);

afterAll(() => browser.close());

/** Opens the page of a router, and keeps what must not happen on it. */
async function open(differences: Differences = {}, viewport = { width: 1280, height: 800 }) {
  const router = await startTestRouter(differences);
  const context = await browser.newContext({ viewport });
  onTestFinished(async () => {
    await context.close();
    await router.close();
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (line) => problems.push(`${line.type()}: ${line.text()}`));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== router.origin && protocol !== "data:") problems.push(request.url());
  });
  await page.goto(router.origin);
  return { page, problems, router };
}

async function send(page: Page, message: string) {
  await page.getByLabel("Message").fill(message);
  await page.keyboard.press("Enter");
  const answer = page.getByRole("article").first();
  await answer.locator(".pending").waitFor({ state: "detached" });
  return answer;
}

test("a greeting shows the nano badge, the bars, the facts and the reply", async () => {
  const { page, problems } = await open();
  const answer = await send(page, "hi");
  expect(await answer.getByRole("heading").innerText()).toBe("hi");
  expect(await answer.locator(".badge").innerText()).toBe("nano");
  expect(await answer.locator(".model").innerText()).toBe("openai/gpt-5-nano");
  expect(await answer.locator(".shares").innerText()).toMatch(
    /^nano\s+97%\s+fast\s+2%\s+balanced\s+< 1%\s+frontier\s+< 1%$/,
  );
  expect(await answer.locator(".facts").innerText()).toMatch(
    /^confidence\s+0\.96\s+decided in\s+\d+ ms\s+replied in\s+\d+ ms\s+tokens\s+\d+ in, \d+ out$/,
  );
  expect(await answer.locator(".reply").innerText()).toContain("local emulator");
  expect(await answer.locator(".reply-error, .failure").filter({ visible: true }).count()).toBe(0);
  expect(problems).toEqual([]);
});

test("a failed reply is red, and the decision stays", async () => {
  const error = { message: "Free tier users do not have access to this model.", type: "forbidden" };
  const { page, problems } = await open({ reply: () => Response.json({ error }, { status: 403 }) });
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
  const { page } = await open({ evaluation: () => Response.json({ error }, { status: 500 }) });
  const answer = await send(page, "hi");
  expect(await answer.locator(".failure").innerText()).toContain("Model is being moved.");
  expect(await answer.locator(".decision").isVisible()).toBe(false);
  await send(page, "hi again");
  expect(await page.getByRole("article").count()).toBe(2);
});

test("a router that is gone is told apart from one that failed", async () => {
  const { page, router } = await open();
  await page.route("**/chat", (route) => route.abort("connectionrefused"));
  const answer = await send(page, "hi");
  expect(await answer.locator(".failure").innerText()).toContain("The router cannot be reached");
  expect(router.seen).toEqual([]);
});

test("a reply full of HTML stays text", async () => {
  const text = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
  const { page, problems } = await open({
    reply: () =>
      Response.json({
        content: [{ type: "text", text }],
        finishReason: { unified: "stop" },
        usage: { inputTokens: {}, outputTokens: {} },
        warnings: [],
      }),
  });
  const answer = await send(page, "hi");
  expect(await answer.locator(".reply").innerText()).toBe(text);
  expect(await answer.locator(".facts").innerText()).toMatch(/tokens\s+\? in, \? out$/);
  expect(await page.title()).toBe("Tier router");
  expect(problems).toEqual([]);
});

test("the keyboard is enough: an example, a line break, and Enter", async () => {
  const { page, router } = await open();
  await page.locator("#message:focus").waitFor();
  for (const key of ["Tab", "Tab", "Enter"]) await page.keyboard.press(key);
  expect(await page.getByLabel("Message").inputValue()).toBe("hi");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("there");
  await page.keyboard.press("Enter");
  await page.getByRole("article").locator(".reply").waitFor();
  expect(router.seen[0]?.body).toMatchObject({ state: { user_message: "hi\nthere" } });
  expect(await page.getByLabel("Message").inputValue()).toBe("");
});

test("a blank message is not sent, and one at a time is enough", async () => {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<Response>();
  const { page, router } = await open({
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
  const { page } = await open();
  expect(await page.getByRole("complementary").innerText()).toBe("Answers come from a test.");
});

test.each([1280, 768, 380, 320])("at %i pixels nothing is wider than the window", async (width) => {
  const { page } = await open({}, { width, height: 800 });
  await send(page, `a long word: ${"w".repeat(300)}`);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
});
