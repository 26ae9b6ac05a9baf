import { expect, test } from "vitest";
import { openPage, send } from "../testing/open-page.ts";
import { heldReply, replyStream } from "../testing/reply-stream.ts";

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
  const { page, problems } = await openPage({
    reply: () => replyStream([hostile.slice(0, 100), hostile.slice(100)]),
  });
  const answer = await send(page, "hi");
  const reply = answer.locator(".reply");
  const names = await reply.evaluate((element) => [
    ...new Set(Array.from(element.querySelectorAll("*"), ({ localName }) => localName)),
  ]);
  expect(new Set(names)).toEqual(
    new Set(["button", "code", "div", "h3", "li", "p", "pre", "span", "strong", "ul"]),
  );
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
  const { page, router } = await openPage({ reply: upstream.answer });
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
  const { page } = await openPage({ evaluation: upstream.answer });
  await page.getByLabel("Message").fill("hi");
  await page.keyboard.press("Enter");
  await upstream.reached;
  await page.keyboard.press("Escape");
  await upstream.ended;
  await page.locator(".stopped").filter({ visible: true }).waitFor();
  expect(await page.locator(".failure, .decision").filter({ visible: true }).count()).toBe(0);
});

test("a reply that breaks off keeps what came, and says in red why it ended", async () => {
  const { page } = await openPage({ reply: () => replyStream(["half a "], { isCut: true }) });
  const answer = await send(page, "hi");
  expect(await answer.locator(".reply").innerText()).toBe("half a");
  expect(await answer.locator(".reply-error").innerText()).toMatch(/^The reply failed\n\S/);
  expect(await answer.locator(".badge").innerText()).toBe("nano");
});

test("the columns of a table stand as the reply says", async () => {
  const table = "| a | b | c |\n| --- | --: | :-: |\n| 1 | 2 | 3 |";
  const { page } = await openPage({ reply: () => replyStream([table]) });
  await send(page, "hi");
  const aligns = await page.evaluate(
    "Array.from(document.querySelectorAll('td'), (cell) => getComputedStyle(cell).textAlign)",
  );
  expect(aligns).toEqual(["start", "end", "center"]);
});
