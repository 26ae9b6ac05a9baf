import { experimental_decide as decide } from "ai";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { choice } from "../questions/kinds.ts";
import { scamBody } from "../testing/answering-model.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { toDecisionModel } from "./to-decision-model.ts";

test("sends instructions, descriptions and levels of JSON unchanged, and a list's order", async () => {
  const bodies: string[] = [];
  const fetch = async (_url: string, { body }: RequestInit) => {
    bodies.push(body as string);
    return Response.json(scamBody);
  };
  const wire = "decision-model";
  const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {}, fetch, wire });
  const model = toDecisionModel(createEvaluator({ transport }));
  const { criteria } = choice("", [
    ["3", ["March"]],
    ["x", null],
    ["1", { month: "January" }],
  ]);
  const questions = {
    which: { type: "choice", instructions: { ask: "Which?" }, criteria },
    how: { type: "score", instructions: "How?", criteria: ["a", ["b"]] },
    scam: { type: "boolean", instructions: ["?"], criteria: { true: {}, false: null } },
  } as const;
  const sent =
    '{"stateParts":[{"type":"text","text":"hi"}],"questions":{' +
    '"which":{"type":"choice","instructions":{"ask":"Which?"},"criteria":{"3":["March"],"x":null,"1":{"month":"January"}}},' +
    '"how":{"type":"score","instructions":"How?","criteria":["a",["b"]]},' +
    '"scam":{"type":"boolean","instructions":["?"],"criteria":{"true":{}}}}}';
  await expect(decide({ model, state: "hi", questions })).rejects.toThrow("answer");
  const state = [{ type: "text", text: "hi" }] as const;
  await expect(model.doDecide({ state, questions })).rejects.toThrow("answer");
  expect(bodies).toEqual([sent, sent]);
});
