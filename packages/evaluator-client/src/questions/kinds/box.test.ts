import { createEmulator } from "evaluator-emulator/fetch";
import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { askService, replyOf } from "../../testing/ask-service.ts";
import { directTransport } from "../../transports/direct/direct-transport.ts";
import type { ServiceName } from "../../transports/direct/services.ts";
import { gatewayTransport } from "../../transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "../../transports/logprobs/logprobs-transport.ts";
import type { Transport } from "../../transports/transport.ts";
import { boolean, box } from "../kinds.ts";
import { image } from "../state.ts";

const photo = image(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a));
const state = ["A photo of a desk", photo];
const questions = { mug: box("the coffee mug"), isTidy: boolean("Is it tidy?") };
const edges = { top: 0.25, left: 0.25, bottom: 0.75, right: 0.75 };

test("the vendor's API finds a box in an image", async () => {
  const { fetch } = createEmulator({ exchanges: [] });
  const transport = directTransport({ service: "typesafe", apiKey: "any", env: {}, fetch });
  const { answers, confidence } = await createEvaluator({ transport }).evaluate({
    state,
    questions,
  });
  expect(answers.mug).toEqual({ type: "box", box: edges, confidence: 0 });
  expect(answers.isTidy.type).toBe("boolean");
  expect(confidence).not.toHaveProperty("mug");
});

const own = { apiKey: "any", env: {}, fetch: () => Promise.reject(new Error("nothing is sent")) };
const others: readonly [string, Transport][] = [
  ["gateway", gatewayTransport(own)],
  ["logprobs", logprobsTransport({ ...own, baseUrl: "http://127.0.0.1", model: "any" })],
  ...(["openai", "gemini", "openrouter", "cloudflare", "perplexity"] as ServiceName[]).map(
    (service) =>
      [service, directTransport({ ...own, accountId: "any", service })] as [string, Transport],
  ),
];

test.each(others)("%s takes no box, and nothing is sent", async (_, transport) => {
  const evaluator = createEvaluator({ transport });
  await expect(evaluator.evaluate({ state: "a desk", questions })).rejects.toMatchObject({
    name: "InvalidRequestError",
    questionId: "mug",
    message:
      'The question "mug" asks for a place in an image, which this service does not take; use directTransport({ service: "typesafe" }).',
  });
});

test("a box without an image is rejected before it is sent", async () => {
  const transport = directTransport({ ...own, service: "typesafe" });
  await expect(
    createEvaluator({ transport }).evaluate({ state: "a desk", questions }),
  ).rejects.toMatchObject({
    questionId: "mug",
    message:
      'The question "mug" needs an image in the state; send a list of parts with image(bytes).',
  });
});

async function answered(fields: object) {
  const mug = { type: "box", box: edges, confidence: 0.9, ...fields };
  const body = replyOf("typesafe", { answers: { mug } });
  const options = { asked: { mug: questions.mug }, state };
  return askService("typesafe", { body }, options);
}

test.each([
  ["box-edges", { box: { ...edges, top: 0.8 } }],
  ["box-edges", { box: { ...edges, right: 1.01 } }],
  ["box-edges", { box: { top: 0, left: 0, bottom: 1 } }],
  ["box-edges", { box: null }],
  ["probabilities-range", { confidence: 1.5 }],
])("an answer that breaks the rule %s is not used", async (rule, fields) => {
  expect((await answered(fields)).error).toMatchObject({ rule, questionId: "mug" });
});

test("a box needs no confidence", async () => {
  const { evaluation } = await answered({ confidence: undefined });
  expect(evaluation?.answers["mug"]).toEqual({ type: "box", box: edges, confidence: null });
});
