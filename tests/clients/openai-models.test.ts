import { expect, test } from "vitest";
import { openAiClient } from "./openai-client.ts";

const greeting = [{ role: "user" as const, content: "hi" }];

test("any model of the gateway is passed through, its decision skipped and said to be", async () => {
  const { client, seen } = await openAiClient({}, { ROUTER_FALLBACK_MODELS: "a/fallback" });
  const model = "openai/gpt-5-nano";
  const call = client.chat.completions.create({ model, messages: greeting });
  const { data, response } = await call.withResponse();
  expect(data.model).toBe(model);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-router-tier": "none",
    "x-router-tier-chosen": "none",
    "x-router-model": model,
    "x-router-cause": "requested",
  });
  expect(seen.map(({ path }) => path)).toEqual(["/v4/ai/language-model"]);
  const missing = client.chat.completions.create({ model: "no/such-model", messages: greeting });
  await expect(missing).rejects.toMatchObject({ status: 404, code: "model_not_found" });
});

test("an alias is what it stands for, and is listed", async () => {
  const aliases = { "gpt-4o": "auto", "gpt-4o-mini": "fast", big: "openai/gpt-5-nano" };
  const { client } = await openAiClient({}, {}, { aliases });
  const headersOf = async (model: string) => {
    const call = client.chat.completions.create({ model, messages: greeting });
    const { headers } = (await call.withResponse()).response;
    return [headers.get("x-router-tier"), headers.get("x-router-model")];
  };
  expect(await headersOf("gpt-4o")).toEqual(["nano", "openai/gpt-5-nano"]);
  expect(await headersOf("gpt-4o-mini")).toEqual(["fast", "google/gemini-3.1-flash-lite"]);
  expect(await headersOf("big")).toEqual(["none", "openai/gpt-5-nano"]);
  const ids = (await client.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual([
    "auto",
    "nano",
    "fast",
    "balanced",
    "frontier",
    "gpt-4o",
    "gpt-4o-mini",
    "big",
    "typesafe-ai/jev",
  ]);
});

test("a model can be looked up by its id, slashes and all", async () => {
  const { client } = await openAiClient();
  expect(await client.models.retrieve("auto")).toMatchObject({ id: "auto", object: "model" });
  const id = "openai/gpt-5-nano";
  expect(await client.models.retrieve(id)).toMatchObject({ id });
  expect(await client.models.retrieve("gpt-99")).toMatchObject({ id: "gpt-99" }); // means auto
  await expect(client.models.retrieve("gemini-99")).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
});
