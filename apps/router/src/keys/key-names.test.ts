import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { defaultTierModels } from "../router-options.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { openTestLog } from "../testing/open-test-log.ts";
import { testRouter } from "../testing/test-router.ts";
import { toHash, storedKeySchema } from "./router-key.ts";

const accessToken = "the-token-of-the-owner";
const keyOf = (name: string) =>
  storedKeySchema.parse({ name, budget: name, sha256: toHash(`rk_${name}`) });
const withKey = (token: string) => ({ "content-type": "application/json", "x-api-key": token });

test("the log, the access log and the metrics name the key, without token or hash", async () => {
  const { path, log } = await openTestLog();
  const printed: string[] = [];
  const price = { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 2 };
  const { request } = await testRouter(
    {},
    {
      accessToken,
      keys: { current: () => [keyOf("alice")] },
      log,
      prices: new Map(Object.values(defaultTierModels).map((model) => [model, price])),
      accessLog: { write: (line) => printed.push(line) },
    },
  );
  for (const token of ["rk_alice", accessToken, "rk_unknown"]) {
    await request("/chat", { ...post({ message: "hi" }), headers: withKey(token) });
  }
  const metrics = await (await request("/metrics", { headers: withKey("rk_alice") })).text();
  await log.close();
  const text = await readFile(path, "utf8");
  const records = text.trimEnd().split("\n");
  const keys = records.map((line) => (JSON.parse(line) as MessageRecord).key);
  expect(keys).toEqual(["alice", "owner"]);
  expect(printed.map((line) => line.trim().split(" ").slice(6))).toEqual([
    ["alice"],
    ["owner"],
    [],
    ["alice"],
  ]);
  expect(metrics).toContain('cause="choice",key="alice"} 1\n');
  expect(metrics).toMatch(/router_cost_usd_total\{part="reply",key="owner"\} \d/);
  const secrets = ["rk_alice", toHash("rk_alice"), accessToken, toHash(accessToken)];
  const output = [text, ...printed, metrics].join("\n");
  expect(secrets.filter((secret) => output.includes(secret))).toEqual([]);
});

test("no answer has a token or a hash in it", async () => {
  const { request } = await testRouter(
    {},
    { accessToken, keys: { current: () => [keyOf("alice")] } },
  );
  const headers = withKey("rk_alice");
  const answers = [
    ...["/", "/tiers", "/decisions", "/v1/models", "/metrics", "/nowhere"].map((path) =>
      request(path, { headers }),
    ),
    ...apiForms.map(({ path, ask }) => request(path, { ...post(ask(["hi"])), headers })),
    request("/v1/models", { headers: withKey("rk_alice2") }),
  ];
  const texts = await Promise.all(
    answers.map(async (answer) => {
      const response = await answer;
      return JSON.stringify([...response.headers]) + (await response.text());
    }),
  );
  expect(texts.join("")).not.toMatch(/rk_alice|[0-9a-f]{64}|the-token-of/);
});

test("at most 100 names of keys are labels; further ones are other", async () => {
  const stored = Array.from({ length: 102 }, (_, at) => keyOf(`key-${at}`));
  const { request } = await testRouter({}, { accessToken, keys: { current: () => stored } });
  for (const { name } of stored) {
    await request("/decide", { ...post({ message: "hi" }), headers: withKey(`rk_${name}`) });
  }
  const metrics = await request("/metrics", { headers: withKey(accessToken) });
  const lines = (await metrics.text()).match(/^router_messages_total\{.*$/gm) ?? [];
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toMatch(/key="other"\} 2$/);
});
