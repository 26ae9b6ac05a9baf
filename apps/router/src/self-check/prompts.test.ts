import { createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { tierQuestions } from "../decision/tier-question.ts";
import { selfCheckPrompts } from "./check-prompts.ts";

test.each(selfCheckPrompts)("$kind is answered by a recording", async ({ message }) => {
  const emulator = createEmulator();
  const bases: (string | null)[] = [];
  const transport = gatewayTransport({
    apiKey: "local",
    env: {},
    fetch: async (url, init) => {
      const response = await emulator.fetch(url, init);
      bases.push(response.headers.get("x-evaluator-emulator"));
      return response;
    },
  });
  const request = { state: { user_message: message }, questions: tierQuestions };
  await createEvaluator({ transport }).evaluate(request);
  expect(bases).toEqual([expect.stringContaining("basis=recorded")]);
});
