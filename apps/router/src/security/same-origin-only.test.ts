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

test.each(foreign)("refuses everyone else with 403, page and chat: %j", async (headers) => {
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
