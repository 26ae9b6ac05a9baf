import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { z } from "zod";
import { defaultTierModels } from "./router-options.ts";

const defaultModels = Object.values(defaultTierModels);

test.each(defaultModels)("the pinned gateway package knows %s", (model) => {
  const manifest = createRequire(import.meta.resolve("ai")).resolve("@ai-sdk/gateway/package.json");
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
  const inputOf = (model: string) => list.find(({ id }) => id === model)?.pricing.input ?? 0;
  const prices = defaultModels.map(inputOf);
  expect(Math.max(...prices) / Math.min(...prices)).toBeCloseTo(200);
});
