import { launchBrowser } from "evaluator-fixtures/browser";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { defaultTierModels } from "../options/default-tier-models.ts";
import { startTestRouter } from "../testing/start-test-router.ts";
import { heldReply, replyStream } from "../testing/reply-stream.ts";
import type { Differences } from "../testing/test-gateway.ts";

let browser: Browser;

const prices = new Map([
  [defaultTierModels.nano, { inputUsdPerMillionTokens: 0.05, outputUsdPerMillionTokens: 0.4 }],
  [defaultTierModels.frontier, { inputUsdPerMillionTokens: 10, outputUsdPerMillionTokens: 50 }],
]);

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);

afterAll(() => browser.close());

/** Opens the page of a router, and keeps what must not happen on it. */
async function open(
  differences: Differences = {},
  { width = 1280, env = {} }: { width?: number; env?: Record<string, string> } = {},
) {
  const router = await startTestRouter(differences, { env, prices });
  const context = await browser.newContext({ viewport: { width, height: 800 } });
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
    /^confidence\s+0\.96\s+decided in\s+\d+ ms\s+replied in\s+\d+ ms\s+tokens\s+\d+ in, \d+ out\s+cost\s+\$0\.0000\d+\s+on frontier\s+\$0\.0\d+$/,
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

const hostile = [
  `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
  "[click](javascript:document.title='owned') and [here](https://evil.example/?steal)",
  "![pixel](https://evil.example/pixel.png)",
  "<https://evil.example/>",
  "# <svg onload=alert(1)>",
  "- `<b>` **bold**",
  "",
  "```html\n<iframe src=//evil.example></iframe>\n```",
].join("\n\n");

test("a reply full of HTML, script, links and images stays text", async () => {
  const { page, problems } = await open({
    reply: () => replyStream([hostile.slice(0, 100), hostile.slice(100)]),
  });
  const answer = await send(page, "hi");
  const reply = answer.locator(".reply");
  const names = await reply.evaluate((element) => [
    ...new Set(Array.from(element.querySelectorAll("*"), ({ localName }) => localName)),
  ]);
  expect(new Set(names)).toEqual(new Set(["code", "h3", "li", "p", "pre", "span", "strong", "ul"]));
  const text = await reply.innerText();
  expect(text).toContain(`<img src=x onerror="document.title='owned'"><script>`);
  expect(text).toContain("here (https://evil.example/?steal)");
  expect(text).toContain("[image: pixel] (https://evil.example/pixel.png)");
  expect(text).toContain("<iframe src=//evil.example></iframe>");
  expect(await answer.locator(".facts").innerText()).toMatch(/tokens\s+\? in, \? out/);
  expect(await page.title()).toBe("Tier router");
  expect(problems).toEqual([]);
});

test("the reply streams in as Markdown, and Stop ends it where it is", async () => {
  const upstream = heldReply();
  const { page, router } = await open({ reply: upstream.answer });
  await page.getByLabel("Message").fill("hi");
  await page.keyboard.press("Enter");
  upstream.send("a **bold** word, and");
  const answer = page.getByRole("article");
  await answer.locator(".reply strong").waitFor();
  expect(await answer.locator(".badge").innerText()).toBe("nano");
  expect(await answer.locator(".pending").isVisible()).toBe(true);
  await page.getByRole("button", { name: "Stop" }).click();
  await upstream.ended;
  expect(await answer.locator(".stopped").innerText()).toBe("Stopped");
  expect(await answer.locator(".reply").innerText()).toBe("a bold word, and");
  expect(await page.getByRole("button", { name: "Stop" }).isVisible()).toBe(false);
  expect(router.defects).toEqual([]);
});

test("Escape stops a decision that does not come", async () => {
  const upstream = heldReply();
  const { page } = await open({ evaluation: upstream.answer });
  await page.getByLabel("Message").fill("hi");
  await page.keyboard.press("Enter");
  await upstream.reached;
  await page.keyboard.press("Escape");
  await upstream.ended;
  await page.locator(".stopped").filter({ visible: true }).waitFor();
  expect(await page.locator(".failure, .decision").filter({ visible: true }).count()).toBe(0);
});

test("a reply that breaks off keeps what came, and says in red why it ended", async () => {
  const { page } = await open({ reply: () => replyStream(["half a "], { isCut: true }) });
  const answer = await send(page, "hi");
  expect(await answer.locator(".reply").innerText()).toBe("half a");
  expect(await answer.locator(".reply-error").innerText()).toMatch(/^The reply failed\n\S/);
  expect(await answer.locator(".badge").innerText()).toBe("nano");
});

test("what the policy did is said beside the badge", async () => {
  const { page } = await open({}, { env: { ROUTER_MIN_CONFIDENCE: "0.97" } });
  const answer = await send(page, "hi");
  expect(await answer.locator(".badge").innerText()).toBe("fast");
  expect(await answer.locator(".cause").innerText()).toContain("The choice was nano");
  expect(await answer.locator(".share.chosen dt").innerText()).toBe("nano");
});

test("the totals of the page grow", async () => {
  const { page } = await open();
  await send(page, "hi");
  await send(page, "hi");
  expect(await page.locator("#totals").innerText()).toMatch(
    /^This page: 2 replies, \d+ tokens, \$0\.\d+; on the frontier tier \$0\.\d+: \$0\.\d+ saved\.$/,
  );
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
  const { page } = await open({}, { width });
  await send(page, `a long word: ${"w".repeat(300)}`);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
});
