import { expect, test } from "vitest";
import { budgetRouter, headers } from "../testing/budget-router.ts";
import { testRouter } from "../testing/test-router.ts";

test("the holder of a key reads its limits and the rest of its budget, but no token", async () => {
  const { request, spend } = await budgetRouter(1, {}, { key: { requestsPerMinute: 60 } });
  await spend(0.25);
  const response = await request("/v1/key", { headers });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await response.json()).toEqual({
    name: "alice",
    tiers: null,
    models: null,
    decisions: null,
    requestsPerMinute: 60,
    tokensPerMinute: null,
    expires: null,
    budget: {
      budget: "team",
      dayUsd: 0.25,
      monthUsd: 0.25,
      reservedUsd: 0,
      limitDayUsd: 1,
      limitMonthUsd: null,
      remainingUsd: 0.75,
      isNear: false,
      requests: 1,
      resetAt: expect.stringMatching(/T00:00:00.000Z$/),
    },
  });
});

test("a key without a limit in dollars has no budget, and another key reads nothing", async () => {
  const { request } = await budgetRouter(null);
  expect(await (await request("/v1/key", { headers })).json()).toMatchObject({ budget: null });
  const other = { ...headers, authorization: "Bearer rk_bob" };
  expect((await request("/v1/key", { headers: other })).status).toBe(401);
});

test("a router without keys has no name and no budget to show", async () => {
  const { request } = await testRouter();
  expect(await (await request("/v1/key")).json()).toEqual({ name: null, budget: null });
});
