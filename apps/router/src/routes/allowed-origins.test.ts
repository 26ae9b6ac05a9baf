import { expect, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { testRouter } from "../testing/test-router.ts";

const accessToken = "a-token-of-many-characters";
const { allowedOrigins } = parseRouterOptions({
  ROUTER_ACCESS_TOKEN: accessToken,
  ROUTER_ALLOWED_ORIGINS: "app://Obsidian.md, vscode-webview://*,http://localhost:3001",
});
const routerFor = () => testRouter({}, { accessToken, allowedOrigins });
const path = "/v1/chat/completions";
const body = JSON.stringify({ model: "nano", messages: [{ role: "user", content: "hi" }] });
const json = { "content-type": "application/json", authorization: `Bearer ${accessToken}` };
const asked = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type,x-stainless-os",
};

test.each(["app://obsidian.md", "vscode-webview://1b2c", "http://localhost:3001"])(
  "a page of %s may call with a key",
  async (origin) => {
    const { request } = await routerFor();
    const page = { origin, "sec-fetch-site": "cross-site" };
    const preflight = await request(path, { method: "OPTIONS", headers: { ...page, ...asked } });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-headers": "authorization,content-type,x-stainless-os",
      vary: expect.stringContaining("Origin"),
    });
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    const reply = await request(path, { method: "POST", body, headers: { ...page, ...json } });
    expect([reply.status, reply.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    expect(reply.headers.get("access-control-expose-headers")).toBe("*");
    const keyless = { ...page, "content-type": "application/json" };
    const refused = await request(path, { method: "POST", body, headers: keyless });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe(origin); // the page reads why
  },
);

test.each(["app://other.app", "null", "vscode-webview:", "http://localhost:3002", "https://*"])(
  "a page of %s gets 403, with its preflight",
  async (origin) => {
    const { request, seen } = await routerFor();
    for (const init of [
      { method: "OPTIONS", headers: { origin, ...asked } },
      { method: "POST", body, headers: { origin, ...json } },
    ]) {
      const response = await request(path, init);
      expect(response.status).toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
    expect(seen).toEqual([]);
  },
);

test("an allowed page may not read the log, nor call by another name of this machine", async () => {
  const { request } = await routerFor();
  const headers = { origin: "app://obsidian.md", ...json };
  expect((await request("/decisions", { headers })).status).toBe(403);
  const rebound = { ...headers, host: "evil.example" };
  expect((await request(path, { method: "POST", body, headers: rebound })).status).toBe(403);
});

test.each([
  ["*", 'ROUTER_ALLOWED_ORIGINS="*" is not a list of origins'],
  ["https://*", 'ROUTER_ALLOWED_ORIGINS="https://*" is not a list of origins'],
  ["app://obsidian.md", "Set ROUTER_ACCESS_TOKEN to a secret"],
])("%s alone is refused at the start", (ROUTER_ALLOWED_ORIGINS, message) => {
  expect(() => parseRouterOptions({ ROUTER_ALLOWED_ORIGINS })).toThrow(message);
});

test("a host that other machines reach needs the access token or keys", () => {
  const { host } = parseRouterOptions({ HOST: "0.0.0.0", ROUTER_KEYS: "router-keys.json" });
  expect(host).toBe("0.0.0.0");
});
