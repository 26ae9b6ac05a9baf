import { expect, test } from "vitest";
import { testRouter } from "../testing/test-router.ts";

const own: Record<string, string>[] = [
  {},
  { host: "LOCALHOST:3000" },
  { origin: "http://localhost:3000", "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
];

test.each(own)("answers its own page and a person: %j", async (headers) => {
  const { request } = await testRouter();
  expect((await request("/", { headers })).status).toBe(200);
});

const foreign: Record<string, string>[] = [
  { host: "evil.example" },
  { host: "evil.example:3000" },
  { host: "localhost" },
  { host: "localhost:3001" },
  { host: "localhost:3000.evil.example" },
  { host: "" },
  { origin: "http://evil.example" },
  { origin: "https://localhost:3000" },
  { origin: "http://localhost:3001" },
  { origin: "http://localhost:3000.evil.example" },
  { origin: "null" },
  { origin: "" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
];

const link = {
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

test.each(["cross-site", "same-site"])("a link on a %s page opens the page", async (site) => {
  const { request } = await testRouter();
  const response = await request("/", { headers: { ...link, "sec-fetch-site": site } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

const noLinks: [what: string, path: string, init: RequestInit][] = [
  ["a frame", "/", { headers: { ...link, "sec-fetch-dest": "iframe" } }],
  ["a script", "/", { headers: { ...link, "sec-fetch-mode": "cors" } }],
  [
    "an image",
    "/",
    { headers: { ...link, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" } },
  ],
  ["a form", "/", { headers: link, method: "POST" }],
  ["a form for a message", "/chat", { headers: link, method: "POST" }],
  ["a link to something else", "/metrics", { headers: link }],
  ["a link by a foreign name", "/", { headers: { ...link, host: "evil.example" } }],
];

test.each(noLinks)("%s on another page gets 403", async (_what, path, init) => {
  const { request, seen } = await testRouter();
  expect((await request(path, init)).status).toBe(403);
  expect(seen).toEqual([]);
});

test.each(foreign)("rejects everyone else with 403, page and chat: %j", async (headers) => {
  const { request, chat, seen } = await testRouter();
  const json = { "content-type": "application/json" };
  const answers = [
    await request("/", { headers }),
    await request("/nowhere", { headers }),
    await chat({ message: "hi" }, { headers: { ...json, ...headers } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(await answers[2]?.json()).toEqual({ error: expect.any(String) });
  expect(seen).toEqual([]);
});
