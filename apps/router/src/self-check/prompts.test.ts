import { createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { tierQuestions } from "../decision/tier-question.ts";
import { checkPrompts } from "./run-self-check.ts";

test("each of the three prompts is answered by a recording", async () => {
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
  const evaluator = createEvaluator({ transport });
  const ask = async (message: string) => {
    await evaluator.evaluate({ state: { user_message: message }, questions: tierQuestions });
    return Response.json({ error: "Only the evaluation is asked." });
  };
  await checkPrompts(ask, () => undefined);
  const recorded = expect.stringContaining("basis=recorded");
  expect(bases).toEqual([recorded, recorded, recorded]);
});
