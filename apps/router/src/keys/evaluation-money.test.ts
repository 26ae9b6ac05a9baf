import { expect, onTestFinished, test } from "vitest";
import { answer, routerOver } from "../testing/priced-services.ts";
import type { Answer } from "../testing/upstreams.ts";
import { sqliteLedger } from "./key-database.ts";
import { Ledger } from "./ledger.ts";

/** The reservation of one call: its bytes and the service's prompt, at a dollar for a million tokens. */
const reserved = async (more: object = {}) => {
  let nano = 0;
  const router = await routerOver([
    async () => {
      nano = (await router.spent()).reservedNano;
      return Response.json(answer("0"));
    },
  ]);
  await router.ask(more);
  return nano;
};

test("a call reserves its estimate, settles the service's figure and shows what is left", async () => {
  const nano = await reserved();
  expect(nano).toBeGreaterThan(20_000);
  expect(nano).toBeLessThan(400_000);
  const router = await routerOver([() => Response.json(answer("0.25"))]);
  const response = await router.ask();
  expect(response.headers.get("x-router-budget-remaining-usd")).toBe("0.750000");
  expect(await router.spent()).toMatchObject({ dayNano: 250_000_000, reservedNano: 0 });
  expect(router.records).toMatchObject([
    { outcome: "answered", evaluationUsd: 0.25, service: "service-0", key: "alice", attempts: 1 },
  ]);
});

test("without a figure of the service, tokens by the price are settled", async () => {
  const router = await routerOver([() => Response.json(answer(null))]);
  await router.ask();
  expect(await router.spent()).toMatchObject({ dayNano: 50_000, reservedNano: 0 });
});

test("an answer without figure and tokens is charged as reserved, and logged as unknown", async () => {
  const router = await routerOver([() => Response.json(answer(null, { usage: null }))]);
  expect((await router.ask()).status).toBe(200);
  expect(await router.spent()).toMatchObject({ dayNano: await reserved(), reservedNano: 0 });
  expect(router.records).toMatchObject([{ evaluationUsd: null }]);
});

test("a hundred calls at once spend at most a thousandth of a dollar", async () => {
  let paid = 0;
  const router = await routerOver(
    [
      async () => {
        paid += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return Response.json(answer("0.000049"));
      },
    ],
    { usdPerDay: 0.001 },
  );
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => (await router.ask()).status),
  );
  const { dayNano, reservedNano } = await router.spent();
  expect(dayNano).toBe(paid * 49_000);
  expect(dayNano).toBeLessThanOrEqual(1_000_000);
  expect(reservedNano).toBe(0);
  expect(paid).toBeGreaterThan(10);
  expect(statuses.filter((status) => status === 200)).toHaveLength(paid);
  expect(statuses.filter((status) => status === 429)).toHaveLength(100 - paid);
});

test("two routers with one ledger spend no more at a service that counts each byte", async () => {
  let paidNano = 0;
  const bill: Answer = async (request) => {
    const tokens = (await request.arrayBuffer()).byteLength + 200;
    paidNano += tokens * 1000;
    return Response.json(answer(null, { usage: { inputTokens: tokens, outputTokens: 1 } }));
  };
  const first = await routerOver([bill], { usdPerDay: 0.005 });
  const ledger = new Ledger(() => sqliteLedger(first.path), { leaseMs: 60_000 });
  onTestFinished(() => ledger.close());
  const second = await routerOver([bill], { usdPerDay: 0.005, ledger });
  const asked = [first, second].flatMap(({ ask }) => Array.from({ length: 50 }, () => ask()));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  const { dayNano, reservedNano } = await first.spent();
  expect({ dayNano, reservedNano }).toEqual({ dayNano: paidNano, reservedNano: 0 });
  expect(dayNano).toBeLessThanOrEqual(5_000_000);
  expect(dayNano).toBeGreaterThan(3_000_000);
});

test("a refused call is a 429 in the form of the route, and is not asked", async () => {
  const router = await routerOver([() => expect.unreachable()], { usdPerDay: 0.000001 });
  const response = await router.ask();
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toMatchObject({ detail: { error_type: "insufficient_quota" } });
});

test("each byte of a state is reserved, of a list of parts too", async () => {
  const state = "ⴰⵣⵓⵍ".repeat(1000);
  for (const given of [state, [state, { json: 1 }]]) {
    expect(await reserved({ state: given })).toBeGreaterThan(1000 * Buffer.byteLength(state));
  }
});

test("a router that dies while it asks leaves the call charged", async () => {
  let held: readonly object[] = [];
  const router = await routerOver([
    async () => {
      ({ held } = await router.spent());
      return Response.json(answer("0"));
    },
  ]);
  await router.ask();
  const nano = await reserved();
  expect(held).toMatchObject([{ nano, known: nano }]);
});

test("a lost answer of the second service is charged once", async () => {
  let attempts = 0;
  const router = await routerOver(
    [
      () => Response.json({}, { status: 503 }),
      (request) => ((attempts += 1) === 1 ? lost(request) : Response.json(answer("0.25"))),
    ],
    { maxRetries: 1 },
  );
  expect((await router.ask()).status).toBe(200);
  const { dayNano } = await router.spent();
  expect(dayNano).toBe(250_000_000 + (await reserved()));
});

test("a service without a price is a 400 for a key with a budget", async () => {
  const router = await routerOver([() => expect.unreachable()]);
  const { list } = router.services.decisions.current;
  Object.assign(list[0], { mostCostOf: () => null });
  const response = await router.ask();
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    detail: { message: expect.stringContaining("no price for service-0") },
  });
});

const lost: Answer = () =>
  new Response('{"answers":', { headers: { "content-type": "application/json" } });
const broken: Answer = () => Response.json(answer("0.1", { answers: {} }));

test("an attempt whose answer was lost is charged beside the one that answered", async () => {
  let attempts = 0;
  const router = await routerOver(
    [(request) => ((attempts += 1) === 1 ? lost(request) : Response.json(answer("0.25")))],
    { maxRetries: 1 },
  );
  expect((await router.ask()).status).toBe(200);
  const { dayNano } = await router.spent();
  expect(dayNano).toBe(250_000_000 + (await reserved()));
});

test("a lost answer is not asked for again without room for a second one", async () => {
  let attempts = 0;
  const router = await routerOver(
    [
      (request) => {
        attempts += 1;
        return lost(request);
      },
    ],
    { maxRetries: 2, usdPerDay: (1.5 * (await reserved())) / 1e9 },
  );
  expect((await router.ask()).status).toBe(429);
  expect(attempts).toBe(1);
  expect(await router.spent()).toMatchObject({ dayNano: await reserved(), reservedNano: 0 });
});

test("a broken answer is charged, and the next service is asked", async () => {
  const router = await routerOver([broken, () => Response.json(answer("0.25"))]);
  const response = await router.ask();
  expect(response.status).toBe(200);
  expect(router.records).toMatchObject([{ service: "service-1", outcome: "answered" }]);
  const { dayNano } = await router.spent();
  expect(dayNano).toBe(250_000_000 + (await reserved()));
});

test.each([
  ["a broken answer", broken, 502, 1],
  ["a lost answer", lost, 502, 1],
  ["an error status", () => Response.json({}, { status: 500 }), 502, 0],
  ["a bad request", () => Response.json({}, { status: 400 }), 400, 0],
] as const)("%s of the last service is settled once", async (_name, last, status, times) => {
  const router = await routerOver([() => Response.json({}, { status: 503 }), last]);
  expect((await router.ask()).status).toBe(status);
  const { dayNano, reservedNano } = await router.spent();
  expect(dayNano).toBe(times * (await reserved()));
  expect(reservedNano).toBe(0);
});

test("a model's name begins at its place in the list", async () => {
  const router = await routerOver([() => expect.unreachable(), () => Response.json(answer("0"))]);
  expect((await router.ask({ model: "second" })).status).toBe(200);
});

test("tokens count for the key's limit by the minute, and the log has ids and kinds without a text", async () => {
  const router = await routerOver([() => Response.json(answer("0"))]);
  await router.ask();
  const [record] = router.records;
  expect(record).toMatchObject({
    endpoint: "systemone",
    askedModel: "jev-latest",
    questions: { scam: "boolean" },
    inputTokens: 50,
  });
  expect(JSON.stringify(record)).not.toContain("lottery");
});
