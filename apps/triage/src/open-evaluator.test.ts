import { expect, test, vi } from "vitest";
import { openEvaluator } from "./open-evaluator.ts";
import { sampleMail } from "./testing/sample-mail.ts";
import { triageQuestions } from "./triage-questions.ts";

test.each([
  [{}, "AI_GATEWAY_API_KEY"],
  [{ EVALUATOR_TRANSPORT: "direct" }, "EVALUATOR_DIRECT_API_KEY"],
])("without a key (%j) the ways on are to set it, or to go offline", (env, variable) => {
  const opening = () => openEvaluator({ offline: false, env });
  expect(opening).toThrow(variable);
  expect(opening).toThrow(/\.env /);
  expect(opening).toThrow("--offline");
});

test("offline, the emulator answers whatever the environment says", async () => {
  vi.stubEnv("EVALUATOR_BASE_URL", "no address");
  const env = { EVALUATOR_TRANSPORT: "direct" };
  const evaluator = openEvaluator({ offline: true, env });
  const questions = triageQuestions("the user");
  const { answers } = await evaluator.evaluate({ state: sampleMail(), questions });
  expect(Object.keys(answers)).toEqual(Object.keys(questions));
});
