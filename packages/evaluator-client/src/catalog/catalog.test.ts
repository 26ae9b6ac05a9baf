import { inspect } from "node:util";
import { replayExchanges } from "../testing/replay-exchanges.ts";
import { expect, test } from "vitest";
import { answeringCatalog, catalogKey } from "../testing/answering-catalog.ts";
import { createCatalog } from "./catalog.ts";

test("lists models with prices per million tokens, and sends no key", async () => {
  const network = await replayExchanges(["gateway/models-listed"]);
  const models = await createCatalog({ apiKey: catalogKey, env: {} }).listModels();
  expect(models).toEqual([
    {
      id: "typesafe-ai/jev",
      type: "evaluation",
      name: "Jev",
      contextWindow: null,
      inputUsdPerMillionTokens: 0.042,
      outputUsdPerMillionTokens: 0,
      cacheReadUsdPerMillionTokens: null,
      cacheWriteUsdPerMillionTokens: null,
      raw: expect.any(Object),
    },
    {
      id: "openai/gpt-5-nano",
      type: "language",
      name: "GPT-5 nano",
      contextWindow: 400_000,
      inputUsdPerMillionTokens: 0.05,
      outputUsdPerMillionTokens: 0.4,
      cacheReadUsdPerMillionTokens: 0.005,
      cacheWriteUsdPerMillionTokens: null,
      raw: expect.any(Object),
    },
    {
      id: "example/unpriced",
      type: "image",
      name: null,
      contextWindow: null,
      inputUsdPerMillionTokens: null,
      outputUsdPerMillionTokens: null,
      cacheReadUsdPerMillionTokens: null,
      cacheWriteUsdPerMillionTokens: null,
      raw: expect.any(Object),
    },
  ]);
  expect(models[2]?.raw).toMatchObject({ object: "model", pricing: { image: "0.04" } });
  expect(network.requests).toMatchObject([{ url: "https://ai-gateway.vercel.sh/v1/models" }]);
  expect(inspect(network.requests)).not.toMatch(/authorization|planted/i);
});

test("lists the endpoints of a model with their data handling, and sends no key", async () => {
  const network = await replayExchanges(["gateway/endpoints-listed"]);
  const endpoints = await createCatalog({ apiKey: catalogKey, env: {} }).listEndpoints(
    "typesafe-ai/jev",
  );
  expect(endpoints).toEqual([
    {
      providerName: "typesafe-ai",
      zdr: "all",
      noTraining: "all",
      supportsImplicitCaching: false,
      inputUsdPerMillionTokens: 0.042,
      outputUsdPerMillionTokens: 0,
      raw: expect.any(Object),
    },
    {
      providerName: null,
      zdr: null,
      noTraining: null,
      supportsImplicitCaching: null,
      inputUsdPerMillionTokens: null,
      outputUsdPerMillionTokens: null,
      raw: expect.any(Object),
    },
  ]);
  expect(endpoints[1]?.raw).toEqual({ supported_parameters: [] });
  expect(inspect(network.requests)).not.toMatch(/authorization|planted/i);
});

test.each(["gateway/credits-read", "gateway/credits-read-as-numbers"])(
  "reads the balance of %s with the key",
  async (name) => {
    const network = await replayExchanges([name]);
    const credits = await createCatalog({ env: { AI_GATEWAY_API_KEY: catalogKey } }).getCredits();
    expect(credits).toMatchObject({ balanceUsd: 4.999985888, totalUsedUsd: 0.000014112 });
    expect(credits.raw).toHaveProperty("total_used");
    const [request] = network.requests;
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${catalogKey}` });
  },
);

test("leaves null what the list does not say", async () => {
  const { catalog } = answeringCatalog(() => Response.json({ data: [{ id: "a/b" }] }));
  expect(await catalog.listModels()).toEqual([
    {
      id: "a/b",
      type: null,
      name: null,
      contextWindow: null,
      inputUsdPerMillionTokens: null,
      outputUsdPerMillionTokens: null,
      cacheReadUsdPerMillionTokens: null,
      cacheWriteUsdPerMillionTokens: null,
      raw: { id: "a/b" },
    },
  ]);
});

test("starts at the root of the host, whatever the path of the base URL", async () => {
  const baseUrl = "http://127.0.0.1:8080/proxy/v4/ai";
  const answer = () => Response.json({ data: [] });
  const { catalog, urls } = answeringCatalog(answer, { baseUrl });
  expect(await catalog.listModels()).toEqual([]);
  expect(urls).toEqual(["http://127.0.0.1:8080/v1/models"]);
});

test.each([
  ["a-b/c.d-1@x y", "https://ai-gateway.vercel.sh/v1/models/a-b/c.d-1%40x%20y/endpoints"],
  ["a?b/c#d", "https://ai-gateway.vercel.sh/v1/models/a%3Fb/c%23d/endpoints"],
])("encodes the model id %j", async (modelId, url) => {
  const answer = () => Response.json({ data: { endpoints: [] } });
  const { catalog, urls } = answeringCatalog(answer);
  expect(await catalog.listEndpoints(modelId)).toEqual([]);
  expect(urls).toEqual([url]);
});

test.each(["", "jev", "a/", "/b", "a/b/c", "../b", "a/..", "./b", "a/\ud800"])(
  "sends nothing for the model id %j",
  async (modelId) => {
    const { catalog, urls } = answeringCatalog(() => Response.json({}));
    await expect(catalog.listEndpoints(modelId)).rejects.toMatchObject({
      name: "InvalidRequestError",
      message: expect.stringContaining("creator/model"),
    });
    expect(urls).toEqual([]);
  },
);

test("misses the key only when the balance is asked for", async () => {
  const fetch = async () => Response.json({ data: [] });
  const catalog = createCatalog({ fetch, env: {} });
  expect(await catalog.listModels()).toEqual([]);
  await expect(catalog.getCredits()).rejects.toMatchObject({
    name: "ConfigurationError",
    option: "apiKey",
    environmentVariable: "AI_GATEWAY_API_KEY",
  });
});

test.each<[string, Parameters<typeof createCatalog>[0], string]>([
  ["a base URL with a query", { baseUrl: "https://a.example/?b" }, "baseUrl"],
  ["an own Authorization header", { headers: { authorization: "x" } }, "headers"],
  ["a retry count of -1", { maxRetries: -1 }, "maxRetries"],
])("rejects %s when it is made", (_, options, option) => {
  expect(() => createCatalog({ env: {}, ...options })).toThrow(
    expect.objectContaining({ name: "ConfigurationError", option }),
  );
});

test("looks nothing up after its end", async () => {
  const { catalog, urls } = answeringCatalog(() => Response.json({ data: [] }));
  expect(await catalog.listModels()).toEqual([]);
  {
    await using ending = catalog;
    expect(ending).toBe(catalog);
  }
  const closed = { name: "ConfigurationError", option: "transport" };
  await expect(catalog.listModels()).rejects.toMatchObject(closed);
  await expect(catalog.getCredits()).rejects.toMatchObject(closed);
  expect(urls).toHaveLength(1);
});

test.each([
  ["0.000000042", 0.042],
  ["0.0000011", 1.1],
  ["0.00000007", 0.07],
  ["0.000015", 15],
  ["0", 0],
  ["0.0006", 600],
  [".000001", 1],
  ["4.2e-8", 0.042],
  ["4.2E-8", 0.042],
  [0.000000042, 0.042],
  [0.0000011, 1.1],
  [null, null],
  [undefined, null],
])("turns %j per token into %j per million", async (perToken, perMillion) => {
  const cached = { input_cache_read: perToken, input_cache_write: perToken };
  const pricing = { input: perToken, output: perToken, ...cached };
  const { catalog } = answeringCatalog(() => Response.json({ data: [{ id: "a/b", pricing }] }));
  const [model] = await catalog.listModels();
  expect(model?.inputUsdPerMillionTokens).toBe(perMillion);
  expect(model?.outputUsdPerMillionTokens).toBe(perMillion);
  expect(model?.cacheReadUsdPerMillionTokens).toBe(perMillion);
  expect(model?.cacheWriteUsdPerMillionTokens).toBe(perMillion);
});

test("a list whose lowest price is no price of a token has prices per million", async () => {
  const prices = [
    ["0.042", "0"],
    ["0", "0.001"],
    [1250, "600"],
    [null, undefined],
  ];
  const pricing = prices.map(([input, output]) => ({ input, output, input_cache_read: "0.0005" }));
  const data = pricing.map((pricing, at) => ({ id: `a/${at}`, pricing }));
  const endpoints = pricing.map(({ input, output }) => ({
    pricing: { prompt: input, completion: output },
  }));
  const { catalog } = answeringCatalog(() => Response.json({ data }));
  const { catalog: other } = answeringCatalog(() => Response.json({ data: { endpoints } }));
  for (const all of [await catalog.listModels(), await other.listEndpoints("a/b")]) {
    const usd = all.map((one) => [one.inputUsdPerMillionTokens, one.outputUsdPerMillionTokens]);
    expect(usd).toEqual([
      [0.042, 0],
      [0, 0.001],
      [1250, 600],
      [null, null],
    ]);
  }
  const [model] = await catalog.listModels();
  expect(model?.cacheReadUsdPerMillionTokens).toBe(0.0005);
});
