import { expect, test } from "vitest";
import { createEmulator } from "./create-emulator.ts";
import { evaluationHeaders, postEvaluation, spamQuestion } from "./testing/requests.ts";

const morning = Date.UTC(2026, 10, 22, 9, 30);
const hourMs = 3_600_000;

/** Makes four calls over two days, and returns what asks for reports. */
async function spend() {
  let nowMs = morning;
  const emulator = createEmulator({ exchanges: [], clock: () => nowMs });
  const ask = async (gateway: object, key = "local-key") => {
    const body = { ...spamQuestion, providerOptions: { gateway } };
    const { json } = await postEvaluation(emulator, body, { authorization: `Bearer ${key}` });
    nowMs += hourMs;
    return (json as { usage: { inputTokens: number } }).usage.inputTokens;
  };
  const tokens = await ask({ user: "ann", tags: ["mail", "night"] });
  await ask({ user: "ben", tags: ["mail"] });
  await ask({ user: "ann" }, "another-key");
  nowMs += 24 * hourMs;
  await ask({});
  return {
    tokens,
    report: async (query: string) => {
      const path = `/v1/report?start_date=2026-11-22&end_date=2026-11-23&${query}`;
      const response = await emulator.fetch(path, { headers: evaluationHeaders });
      return (await response.json()) as { results: Record<string, unknown>[]; error?: object };
    },
  };
}

test("a report adds up what the key spent, by day and by hour", async () => {
  const { report, tokens } = await spend();
  const { results } = await report("");
  expect(results).toEqual([
    {
      day: "2026-11-22",
      total_cost: expect.closeTo((2 * tokens * 0.042) / 1e6, 12),
      market_cost: expect.closeTo((2 * tokens * 0.042) / 1e6, 12),
      input_tokens: 2 * tokens,
      output_tokens: 2,
      cached_input_tokens: 0,
      cache_creation_input_tokens: 0,
      reasoning_tokens: 0,
      request_count: 2,
    },
    expect.objectContaining({ day: "2026-11-23", request_count: 1 }),
  ]);
  const hours = (await report("date_part=hour")).results.map(({ hour }) => hour);
  expect(hours[0]).toBe("2026-11-22T09:00:00.000Z");
  expect(hours).toHaveLength(3);
});

test.each([
  [
    "group_by=user",
    [
      ["", 1],
      ["ann", 1],
      ["ben", 1],
    ],
  ],
  [
    "group_by=tag",
    [
      ["mail", 2],
      ["night", 1],
    ],
  ],
  ["group_by=model", [["typesafe-ai/jev", 3]]],
  ["group_by=credential_type", [["system", 3]]],
  ["group_by=user&user_id=ann", [["ann", 1]]],
  ["group_by=model&tags=mail,night", [["typesafe-ai/jev", 1]]],
  ["group_by=model&model=openai/gpt-5-nano", []],
  ["group_by=provider&credential_type=byok", []],
])("%s", async (query, rows) => {
  const { report } = await spend();
  const { results } = await report(query);
  const name = /group_by=(\w+)/.exec(query)?.[1] ?? "";
  expect(results.map((row) => [row[name], row["request_count"]])).toEqual(rows);
});

test("a wrong parameter is named", async () => {
  const { report } = await spend();
  expect(await report("group_by=week")).toMatchObject({
    error: { message: expect.stringContaining("group_by: expected one of day, user") },
  });
});
