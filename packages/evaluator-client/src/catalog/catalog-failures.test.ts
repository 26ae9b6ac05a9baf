import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { InvalidResponseError } from "../errors.ts";
import { answeringCatalog, catalogKey } from "../testing/answering-catalog.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { createCatalog } from "./catalog.ts";

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("the look-up fails"),
    (error: unknown) => error,
  );
}

describe("a body with the wrong shape is rejected:", () => {
  const model = { id: "a/b" };
  test.each<[string, unknown, string]>([
    ["no object", "text", "as a whole"],
    ["no list", { data: {} }, "data"],
    ["a model without an id", { data: [{}] }, "data.0.id"],
    [
      "a price in words",
      { data: [{ ...model, pricing: { input: "free" } }] },
      "data.0.pricing.input",
    ],
    ["an empty price", { data: [{ ...model, pricing: { input: "" } }] }, "data.0.pricing.input"],
    [
      "a price below 0",
      { data: [{ ...model, pricing: { output: "-1" } }] },
      "data.0.pricing.output",
    ],
    [
      "a cache price below 0",
      { data: [{ ...model, pricing: { input_cache_write: "-1" } }] },
      "data.0.pricing.input_cache_write",
    ],
    ["a price of 1e999", { data: [{ ...model, pricing: { output: "1e999" } }] }, "pricing.output"],
    ["a window of 1.5", { data: [{ ...model, context_window: 1.5 }] }, "data.0.context_window"],
  ])("models with %s", async (_, body, where) => {
    const { catalog, urls } = answeringCatalog(() => Response.json(body), { maxRetries: 2 });
    const error = await failureOf(catalog.listModels());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error).toMatchObject({ rule: "body-shape", questionId: null, attempts: 1 });
    expect(error).toMatchObject({ message: expect.stringContaining(where) });
    expect(urls).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ["no endpoints", { data: {} }],
    ["zdr as a number", { data: { endpoints: [{ zdr: 1 }] } }],
    ["a provider that is no text", { data: { endpoints: [{ provider_name: 1 }] } }],
  ])("endpoints with %s", async (_, body) => {
    const { catalog } = answeringCatalog(() => Response.json(body));
    const error = await failureOf(catalog.listEndpoints("a/b"));
    expect(error).toMatchObject({ name: "InvalidResponseError", rule: "body-shape" });
  });

  test.each<[string, unknown]>([
    ["no balance", { total_used: "1" }],
    ["a balance in words", { balance: "plenty", total_used: "1" }],
    ["null used", { balance: 1, total_used: null }],
  ])("credits with %s", async (_, body) => {
    const { catalog } = answeringCatalog(() => Response.json(body));
    const error = await failureOf(catalog.getCredits());
    expect(error).toMatchObject({ name: "InvalidResponseError", rule: "body-shape" });
  });
});

test.each<[number, string, Record<string, unknown>]>([
  [401, "AuthenticationError", { isRetryable: false }],
  [404, "StatusError", { isRetryable: false }],
  [429, "GatewayRateLimitError", { retryAfterMs: 2000, isRetryable: true }],
  [500, "StatusError", { isRetryable: true }],
  [302, "StatusError", { isRetryable: false }],
])("turns %d into %s, without the key and without talk of the wire", async (status, name, rest) => {
  const body = { error: { message: `No: ${catalogKey}.`, type: "other" } };
  const headers = { "retry-after": "2" };
  const { catalog } = answeringCatalog(() => Response.json(body, { status, headers }));
  const error = await failureOf(catalog.getCredits());
  expect(error).toMatchObject({ name, status, attempts: 1, ...rest });
  expect(inspect(error, { depth: 9 })).not.toMatch(/planted|decision-model|billed;/);
});

test("tries again as an evaluator does", async () => {
  const clock = new ManualClock();
  const statuses: number[] = [];
  const fetch = async () => {
    const status = statuses.length === 0 ? 503 : 200;
    statuses.push(status);
    return Response.json({ data: [] }, { status });
  };
  const listing = createCatalog({ fetch, env: {} }, { clock, random: () => 1 }).listModels();
  await clock.advance(60_000);
  expect(await listing).toEqual([]);
  expect(statuses).toEqual([503, 200]);
});

test.each<[string, () => Response]>([
  ["a body that is cut", () => new Response('{"data":[')],
  [
    "a socket that is reset",
    () => {
      throw Object.assign(new Error("read"), { code: "ECONNRESET" });
    },
  ],
])("%s costs nothing", async (_, answer) => {
  const { catalog } = answeringCatalog(answer);
  const error = await failureOf(catalog.listModels());
  expect(error).toMatchObject({ name: "ConnectionError", maybeBilled: false, isRetryable: true });
  expect(error).not.toMatchObject({ message: expect.stringContaining("billed") });
});

test("ends at its deadline, and nothing was billed", async () => {
  const clock = new ManualClock();
  const fetch = () => new Promise<Response>(() => undefined);
  const catalog = createCatalog({ fetch, env: {}, deadlineMs: 1000 }, { clock });
  const failure = failureOf(catalog.listModels());
  await clock.advance(1000);
  expect(await failure).toMatchObject({
    name: "TimeoutError",
    limit: "deadline",
    timeoutMs: 1000,
    maybeBilled: false,
  });
});

test("throws the caller's own reason, before and while waiting", async () => {
  const controller = new AbortController();
  const fetch = () => {
    controller.abort("enough");
    return new Promise<Response>(() => undefined);
  };
  const catalog = createCatalog({ fetch, env: {} });
  await expect(catalog.listModels({ signal: controller.signal })).rejects.toBe("enough");
  const nothing = answeringCatalog(() => Response.json({ data: [] }));
  const aborted = nothing.catalog.listModels({ signal: AbortSignal.abort("enough") });
  await expect(aborted).rejects.toBe("enough");
  expect(nothing.urls).toEqual([]);
});
