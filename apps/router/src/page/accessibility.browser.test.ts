import { problemsOn } from "evaluator-kit/browser";
import { expect, test } from "vitest";
import { openPage, send } from "../testing/open-page.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { hangingUpstream } from "../testing/upstreams.ts";

test("the keyboard is enough: an example sends itself", async () => {
  const { page, router } = await openPage();
  await page.locator("#message:focus").waitFor();
  for (const key of ["Tab", "Tab", "Enter"]) await page.keyboard.press(key);
  await page.getByRole("article").locator(".reply").waitFor();
  expect(router.seen[0]?.body).toMatchObject({ state: { user_message: "hi" } });
});

test("the keyboard is enough: a line break, and Enter", async () => {
  const { page, router } = await openPage();
  await page.getByLabel("Message").fill("hi");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("there");
  await page.keyboard.press("Enter");
  await page.getByRole("article").locator(".reply").waitFor();
  expect(router.seen[0]?.body).toMatchObject({ state: { user_message: "hi\nthere" } });
  expect(await page.getByLabel("Message").inputValue()).toBe("");
});

test("Stop is one Tab away, and gives the focus back to the message", async () => {
  const upstream = hangingUpstream();
  const { page } = await openPage({ reply: upstream.answer });
  await page.getByLabel("Message").fill("hi");
  await page.keyboard.press("Enter");
  await upstream.reached;
  await page.keyboard.press("Tab");
  expect(await page.locator(":focus").innerText()).toBe("Stop");
  await page.keyboard.press("Enter");
  await upstream.ended;
  await page.locator("#message:focus").waitFor();
});

test("at 1280, 768, 380 and 320 pixels nothing is wider than the window", async () => {
  const { page } = await openPage();
  await page.getByText("Use it from a program").click();
  for (const width of [1280, 768, 380, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await send(page, `a long word: ${"w".repeat(300)}`);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  }
});

const markdown = [
  `# A plan\n\n1. First\n   - *inner*\n\n> quoted, with \`code\` and [a link](https://example.com)\n\n`,
  `\`\`\`\nconst wide = "${"w".repeat(300)}";\n\`\`\`\n\n`,
  `| ${"a wide column | ".repeat(12)}\n| ${"--: | ".repeat(12)}\n| ${"1 | ".repeat(12)}`,
];

test("every state is accessible, at every width, light and dark", async () => {
  const error = { message: "Not for you.", type: "forbidden" };
  let replies = 0;
  const reply = () =>
    replies++ === 0 ? replyStream(markdown) : Response.json({ error }, { status: 403 });
  const env = { ROUTER_MIN_CONFIDENCE: "0.97" };
  const { page } = await openPage({ reply }, { env });
  expect(await problemsOn(page)).toEqual([]);
  await send(page, `a long message\n${"line\n".repeat(20)}`);
  const failed = await send(page, "hi");
  await failed.locator(".reply-error").waitFor();
  await page.getByLabel("Message").fill("next"); // Send is at its brightest
  expect(await problemsOn(page)).toEqual([]);
});
