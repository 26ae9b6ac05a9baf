import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { z } from "zod";
import { defaultTierModels } from "./environment-variables.ts";

const models = Object.values(defaultTierModels);

test.each(models)("the pinned gateway package knows %s", (model) => {
  const ai = createRequire(import.meta.resolve("ai"));
  const manifest = ai.resolve("@ai-sdk/gateway/package.json");
  const settings = new URL("src/gateway-language-model-settings.ts", `file://${manifest}`);
  expect(readFileSync(settings, "utf8")).toContain(`'${model}'`);
});

test("the dearest input costs 200 times the cheapest", async () => {
  const pricedSchema = z.object({
    id: z.string(),
    pricing: z.object({ input: z.coerce.number() }),
  });
  const response = await createEmulator().fetch("/v1/models");
  const list = z.object({ data: z.array(pricedSchema) }).parse(await response.json()).data;
  const prices = models.map((model) => list.find(({ id }) => id === model)?.pricing.input ?? 0);
  expect(Math.max(...prices) / Math.min(...prices)).toBeCloseTo(200);
});
