import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { createCatalog } from "./catalog.ts";

test("reads the emulator's models, endpoints and credits", async () => {
  const emulator = createEmulator({ exchanges: [] });
  const catalog = createCatalog({
    apiKey: "any-key",
    env: {},
    fetch: (url, init) => emulator.fetch(url, init),
  });
  const models = await catalog.listModels();
  const model = models.find(({ id }) => id === "typesafe-ai/jev");
  expect(model).toMatchObject({ type: "evaluation", inputUsdPerMillionTokens: 0.042 });
  expect(await catalog.listEndpoints("typesafe-ai/jev")).toMatchObject([{ zdr: "all" }]);
  expect(await catalog.getCredits()).toMatchObject({ totalUsedUsd: 0 });
});
