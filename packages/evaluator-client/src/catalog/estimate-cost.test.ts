import { expect, test } from "vitest";
import { emailRequest } from "../testing/email-evaluation.ts";
import { estimateTokens } from "../questions/tokens.ts";
import { boolean, choice, type Questions, score } from "../questions/kinds.ts";
import { manyOptions, ownServer } from "../testing/played-chat.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { logprobsTransport } from "../transports/logprobs/logprobs-transport.ts";
import type { Transport } from "../transports/transport.ts";
import { estimateCost, mostCostUsd } from "./estimate-cost.ts";

test("counts requests and tokens, and says that it is an estimate", () => {
  const one = estimateCost([emailRequest], { inputUsdPerMillionTokens: 0.042 });
  expect(one).toMatchObject({ requests: 1, isEstimate: true });
  expect(one.inputTokens).toBeGreaterThan(50);
  expect(one.costUsd).toBeCloseTo((one.inputTokens * 0.042) / 1e6, 15);
  const ten = estimateCost(
    Array.from({ length: 10 }, () => emailRequest),
    {
      inputUsdPerMillionTokens: 0.042,
    },
  );
  expect(ten).toMatchObject({ requests: 10, inputTokens: 10 * one.inputTokens });
});

test("counts each call of a chat model, and the one token that it writes", () => {
  const transport = logprobsTransport(ownServer);
  const request = { state: "text", questions: { which: choice("Which?", manyOptions(8)) } };
  const price = { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 1000 };
  const { calls, inputTokens, costUsd } = estimateCost([request, request], { ...price, transport });
  expect(calls).toBe(16);
  expect(inputTokens).toBeGreaterThan(2 * 8 * estimateTokens({ ...request, questions: {} }));
  expect(costUsd).toBeCloseTo((inputTokens + 16 * 1000) / 1e6, 12);
  const input = estimateCost([request], { inputUsdPerMillionTokens: 1, transport });
  expect(input.costUsd).toBeCloseTo((input.inputTokens + 8) / 1e6, 12);
});

test("takes any iterable, an empty one and a price of 0 included", () => {
  function* requests() {
    yield emailRequest;
    yield emailRequest;
  }
  expect(estimateCost(requests(), { inputUsdPerMillionTokens: 0 })).toMatchObject({
    requests: 2,
    costUsd: 0,
  });
  expect(estimateCost([], { inputUsdPerMillionTokens: 1 })).toEqual({
    requests: 0,
    calls: 0,
    inputTokens: 0,
    costUsd: 0,
    isEstimate: true,
  });
});

test("estimates with one frozen copy of questions that are repeated, until they change", () => {
  const questions = { scam: { type: "boolean" as const, instructions: "Is it a scam?" } };
  const requests = Array.from({ length: 4 }, (_, at) => ({ state: `Mail ${at}`, questions }));
  const seen: Questions[] = [];
  const transport: Transport = {
    ...logprobsTransport(ownServer),
    estimate: (request) => ({ calls: seen.push(request.questions), inputTokens: 1 }),
  };
  const estimate = () => estimateCost(requests, { inputUsdPerMillionTokens: 1, transport });
  estimate();
  expect(seen[3]).toBe(seen[1]);
  expect(seen[3]).not.toBe(questions);
  expect(seen[3]).toEqual(questions);
  questions.scam.instructions = "Is it spam?";
  estimate();
  expect(seen[4]).toEqual(questions);
});

test("rejects a price of output that is none", () => {
  const price = { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: -1 };
  expect(() => estimateCost([], price)).toThrow(/option "outputUsdPerMillionTokens"/);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("rejects a price of %d", (price) => {
  expect(() => estimateCost([], { inputUsdPerMillionTokens: price })).toThrow(
    expect.objectContaining({ name: "ConfigurationError", option: "inputUsdPerMillionTokens" }),
  );
});

test.each(["systemone", "decisions", "gemini"] as const)(
  "in the form %s no request has more bytes than its most tokens",
  async (wire) => {
    let bytes = 0;
    const fetch = async (...[url, init]: Parameters<typeof globalThis.fetch>) => {
      bytes = (await new Request(url, init).arrayBuffer()).byteLength;
      return Response.json({}, { status: 400 });
    };
    const model = "m";
    const transport = directTransport({ wire, model, apiKey: null, baseUrl: "http://a", fetch });
    const letters = Array.from({ length: 255 }, (_, at) => [String.fromCodePoint(0x100 + at), "x"]);
    const questions = {
      a: boolean("A?", { true: "y", false: "n" }),
      b: choice("B?", letters as [[string, string]]),
      c: choice("C?", letters.map(([letter]) => [letter, null]) as never),
      d: score("D?", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]),
    };
    const request = { state: "s", questions };
    const evaluator = createEvaluator({ transport, maxRetries: 0 });
    await expect(evaluator.evaluate(request)).rejects.toThrow(/answered 400/);
    const most = mostCostUsd(request, { inputUsdPerMillionTokens: 1, transport }) * 1e6;
    expect(bytes).toBeGreaterThan(5000);
    expect(bytes).toBeLessThanOrEqual(most);
  },
);
