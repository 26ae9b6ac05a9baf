import { expect, test } from "vitest";
import { models } from "../catalog.ts";
import { createEmulator } from "../create-emulator.ts";
import { evaluationHeaders, postEvaluation, spamQuestion } from "../testing/requests.ts";

const emulator = createEmulator({ exchanges: [] });

test("models and endpoints need no key and show prices per token", async () => {
  const models = await (await emulator.fetch("/v1/models")).json();
  expect(models).toMatchObject({
    object: "list",
    data: expect.arrayContaining([
      expect.objectContaining({
        id: "typesafe-ai/jev",
        type: "evaluation",
        context_window: 0,
        pricing: { input: "0.000000042", output: "0" },
        zdr: "all",
        no_training: "all",
      }),
      expect.objectContaining({
        id: "anthropic/claude-fable-5.1",
        pricing: {
          input: "0.00001",
          output: "0.00005",
          input_cache_read: "0.00000025",
          input_cache_write: "0.0000125",
        },
      }),
    ]),
  });
  const endpoints = await emulator.fetch("/v1/models/typesafe-ai/jev/endpoints");
  expect(await endpoints.json()).toMatchObject({
    data: {
      id: "typesafe-ai/jev",
      endpoints: [
        {
          provider_name: "typesafe-ai",
          pricing: { prompt: "0.000000042", completion: "0" },
          zdr: "all",
          no_training: "all",
          supports_implicit_caching: false,
        },
      ],
    },
  });
  expect((await emulator.fetch("/v1/models/no/model/endpoints")).status).toBe(404);
});

test.each(models.map(({ id }) => id))("the endpoint of %s says how it handles data", async (id) => {
  const { data } = (await (await emulator.fetch(`/v1/models/${id}/endpoints`)).json()) as {
    data: { endpoints: object[] };
  };
  const promised = id === "typesafe-ai/jev" ? "all" : "none";
  const said = { zdr: promised, no_training: promised, supports_implicit_caching: false };
  expect(data.endpoints).toMatchObject([said]);
});

test("credits need a key, go down with each call, and are counted for each key", async () => {
  const bank = createEmulator({ exchanges: [] });
  const credits = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await bank.fetch("/v1/credits", { headers });
    return (await response.json()) as { balance: string; total_used: string };
  };
  expect((await bank.fetch("/v1/credits")).status).toBe(401);
  await postEvaluation(bank, spamQuestion, { authorization: "Bearer a" });
  const { balance, total_used: totalUsed } = await credits("a");
  expect(Number(totalUsed)).toBeGreaterThan(0);
  expect(Number(balance) + Number(totalUsed)).toBeCloseTo(20, 9);
  expect(await credits("b")).toEqual({ balance: "20", total_used: "0" });
  bank.reset();
  expect(await credits("a")).toEqual({ balance: "20", total_used: "0" });
});

test("an answered call is found by its generation id", async () => {
  const { json } = await postEvaluation(emulator);
  const id = (json as { providerMetadata: { gateway: { generationId: string } } }).providerMetadata
    .gateway.generationId;
  const { authorization } = evaluationHeaders;
  const found = await emulator.fetch(`/v1/generation?id=${id}`, { headers: { authorization } });
  expect(await found.json()).toMatchObject({ data: { id, model: "typesafe-ai/jev" } });
  const lost = await emulator.fetch("/v1/generation?id=gen_x", { headers: { authorization } });
  expect(lost.status).toBe(404);
});

test("an unknown address is a 404 in the gateway's shape", async () => {
  const response = await emulator.fetch("https://ai-gateway.vercel.sh/v9/none");
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { type: "not_found" } });
});
