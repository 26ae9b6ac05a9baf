import { expect, test } from "vitest";
import { toHash, storedKeySchema } from "../keys/router-key.ts";
import { testRouter } from "../testing/test-router.ts";

const accessToken = "a-token-of-many-characters";
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test.each([
  `Bearer ${accessToken}`,
  `bearer ${accessToken}`,
  basic(`me:${accessToken}`),
  basic(`:${accessToken}`),
  basic(accessToken),
  accessToken,
  `Bearer  ${accessToken}`,
])("%s opens every endpoint", async (authorization) => {
  const { request } = await testRouter({}, { accessToken });
  for (const path of ["/", "/v1/models", "/metrics"]) {
    expect((await request(path, { headers: { authorization } })).status).toBe(200);
  }
});

test.each(["x-api-key", "api-key", "x-goog-api-key"])("the header %s has the key", async (name) => {
  const { request } = await testRouter({}, { accessToken });
  expect((await request("/v1/models", { headers: { [name]: accessToken } })).status).toBe(200);
  expect((await request("/v1/models", { headers: { [name]: "other" } })).status).toBe(401);
});

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer another",
  `Bearer ${accessToken}x`,
  `Basic ${accessToken}`,
  basic(accessToken + ":me"),
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
  expect(answers[3]?.headers.get("x-should-retry")).toBe("false");
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

const keyOf = (name: string, given: object = {}) =>
  storedKeySchema.parse({ name, budget: name, sha256: toHash(`rk_${name}`), ...given });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test.each([
  bearer("rk_alice"),
  { "x-api-key": "rk_alice" },
  { authorization: basic("me:rk_alice") },
  bearer(accessToken),
])("with keys, a key or the access token opens every endpoint: %j", async (headers) => {
  const keys = { current: () => [keyOf("alice")] };
  const { request } = await testRouter({}, { accessToken, keys });
  for (const path of ["/v1/models", "/metrics", "/tiers"]) {
    expect((await request(path, { headers })).status).toBe(200);
  }
});

test("with keys, only the page, its icon and the health checks are open", async () => {
  const { request, chat, seen } = await testRouter({}, { keys: { current: () => [] } });
  const open = await Promise.all(
    ["/", "/healthz", "/readyz", "/favicon.ico"].map((path) => request(path)),
  );
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const closed = ["/tiers", "/v1/models", "/decisions", "/metrics", "/nowhere"];
  const answers = await Promise.all([...closed.map((path) => request(path)), chat({})]);
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  expect(seen).toEqual([]);
});

test("unknown, revoked and expired keys get the same answer", async () => {
  const expired = keyOf("expired", { expires: "2020-01-01" });
  let stored = [keyOf("alice"), keyOf("bob"), expired];
  const { request } = await testRouter({}, { keys: { current: () => stored } });
  const ask = (token: string) => request("/v1/models", { headers: bearer(token) });
  expect((await ask("rk_bob")).status).toBe(200);
  stored = [keyOf("alice"), expired];
  const answers = await Promise.all(
    ["rk_unknown", "rk_bob", "rk_expired", toHash("rk_alice"), "alice"].map(async (token) => {
      const response = await ask(token);
      const { "x-request-id": _, ...headers } = Object.fromEntries(response.headers);
      return { status: response.status, headers, body: await response.json() };
    }),
  );
  expect(answers).toEqual(answers.map(() => answers[0]));
  expect(answers[0]).toMatchObject({ status: 401 });
});
