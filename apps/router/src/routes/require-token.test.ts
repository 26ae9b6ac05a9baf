import { expect, test } from "vitest";
import { testRouter } from "../testing/test-router.ts";

const accessToken = "a-token-of-many-characters";
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test.each([
  `Bearer ${accessToken}`,
  `bearer ${accessToken}`,
  basic(`me:${accessToken}`),
  basic(`:${accessToken}`),
  basic(accessToken),
])("%s opens every endpoint", async (authorization) => {
  const { request } = await testRouter({}, { accessToken });
  for (const path of ["/", "/v1/models", "/metrics"]) {
    expect((await request(path, { headers: { authorization } })).status).toBe(200);
  }
});

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer another",
  `Bearer ${accessToken}x`,
  `Basic ${accessToken}`,
  basic(accessToken + ":me"),
  accessToken,
])("%s opens none, and no model is asked", async (authorization) => {
  const { request, chat, seen } = await testRouter({}, { accessToken });
  const own: Record<string, string> = authorization === undefined ? {} : { authorization };
  const headers = { "content-type": "application/json", ...own };
  const answers = [
    await request("/", { headers: own }),
    await request("/v1/models", { headers: own }),
    await request("/metrics", { headers: own }),
    await chat({ message: "hi" }, { headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  expect(answers[0]?.headers.get("www-authenticate")).toContain("Basic");
  expect(seen).toEqual([]);
});

test("health checks need no token", async () => {
  const { request } = await testRouter({}, { accessToken });
  expect((await request("/healthz")).status).toBe(200);
  expect((await request("/readyz")).status).toBe(200);
});

test.each([
  { "x-api-key": accessToken },
  { "x-api-key": "another", authorization: `Bearer ${accessToken}` },
  { "x-api-key": accessToken, authorization: "Bearer another" },
])("one right key of two is enough: %j", async (headers) => {
  const { request } = await testRouter({}, { accessToken });
  expect((await request("/v1/models", { headers })).status).toBe(200);
});
