import { expect, test } from "vitest";
import {
  answering,
  gatewayAnswer,
  instructions,
  noul,
  post,
  predicate,
  state,
} from "../testing/evaluation-calls.ts";
import { otherFields } from "./other-fields.ts";

test("unknown fields of the service's body, usage and answers pass in every form", async () => {
  const more = { id: "dec_1", provider: { name: "a" } };
  const { scam } = gatewayAnswer().answers;
  const router = await answering({
    ...more,
    answers: { scam: { ...scam, rationale: "because" } },
    usage: { inputTokens: 50, outputTokens: 5, is_byok: false },
  });
  const questions = { scam: noul };
  const gateway = { scam: { type: "boolean", instructions } };
  for (const [path, body] of [
    ["/v1/systemone", { state, questions }],
    ["/v1/decisions", { input: state, questions: [predicate] }],
    ["/v1/decisions", { input: state, questions }],
    ["/v4/ai/evaluation-model", { state, questions: gateway }],
    ["/v4/ai/decision-model", { state, questions: gateway }],
  ] as const) {
    const reply = await post(router, path, body);
    expect(reply.body).toMatchObject({ ...more, usage: { is_byok: false } });
    expect(Object.values(Object(Object(reply.body).answers))).toMatchObject([
      { rationale: "because" },
    ]);
  }
});

test("the fields of an envelope are those of its result, and a body that is no object has none", () => {
  const result = { answers: {}, usage: { input_tokens: 1, truncated: true }, id: 1 };
  const others = { body: { id: 1 }, usage: { truncated: true } };
  expect(otherFields({ result, success: true, errors: [] })).toEqual(others);
  expect(otherFields(null)).toEqual({ body: {}, usage: {} });
});
