import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { testRouter } from "../testing/test-router.ts";

function hashOf(html: string, element: "style" | "script"): string {
  const start = html.indexOf(">", html.indexOf(`<${element}`)) + 1;
  const source = html.slice(start, html.indexOf(`</${element}>`));
  return createHash("sha256").update(source).digest("base64");
}

test("the policy allows the page's own style, script and origin, and nothing else", async () => {
  const { request } = await testRouter();
  const response = await request("/");
  const html = await response.text();
  const navigation = { "sec-fetch-mode": "navigate" };
  const failure = await (await request("/nowhere", { headers: navigation })).text();
  expect(response.headers.get("content-security-policy")?.split("; ")).toEqual([
    "default-src 'none'",
    `style-src 'sha256-${hashOf(html, "style")}' 'sha256-${hashOf(failure, "style")}'`,
    `script-src 'sha256-${hashOf(html, "script")}'`,
    "connect-src 'self'",
    "img-src data: 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
});

test("every response carries the protective headers, errors too", async () => {
  const { request, chat } = await testRouter();
  const responses = [
    await request("/"),
    await request("/nowhere"),
    await request("/", { headers: { host: "evil.example" } }),
    await chat({ message: "hi" }),
    await chat({}),
  ];
  for (const { headers } of responses) {
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(headers.has("access-control-allow-origin")).toBe(false);
  }
});

test("a browser shows a failure as a page, and a program gets JSON", async () => {
  const { request } = await testRouter();
  const navigation = { headers: { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" } };
  const page = await request("/decisions", navigation);
  expect(page.status).toBe(404);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(await page.text()).toContain("ROUTER_DECISION_LOG");
  expect(await (await request("/decisions")).json()).toHaveProperty("error");
});
