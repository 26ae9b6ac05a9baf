import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { InvalidResponseError } from "./errors.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import {
  checkReply,
  type Evaluation,
  evaluationResponseSchema,
  toEvaluation,
} from "./evaluation.ts";

const { questions } = emailRequest;

/** The evaluation that is made of the answers and this metadata. */
function evaluationWith(providerMetadata: Record<string, unknown>) {
  const response = { ...gatewayBody, providerMetadata } as unknown as Evaluation<typeof questions>;
  const reply = { response, modelId: null, requestId: null, raw: response };
  return toEvaluation(response, {
    reply,
    questions,
    transport: "gateway",
    timing: { totalMs: 1, attempts: 1 },
  });
}

const failed = { success: false, startTime: 1, endTime: 2 };
const answered = { success: true, startTime: 10, endTime: 25 };

test.each<[string, unknown, number | null]>([
  ["the attempt that answered", [{ providerAttempts: [failed, answered] }], 15],
  [
    "an attempt of another model",
    [{ providerAttempts: [failed] }, { providerAttempts: [answered] }],
    15,
  ],
  ["no attempt that answered", [{ providerAttempts: [failed] }], null],
  ["an attempt without a start", [{ providerAttempts: [{ success: true, endTime: 25 }] }], null],
  ["an attempt without an end", [{ providerAttempts: [{ success: true, startTime: 10 }] }], null],
  [
    "an attempt that ends before it starts",
    [{ providerAttempts: [{ success: true, startTime: 25, endTime: 10 }] }],
    null,
  ],
  ["no attempts", [], null],
  ["what is no attempt", [null, { providerAttempts: ["text"] }, {}], null],
  ["nothing", undefined, null],
])("takes the provider's time from %s", (_, modelAttempts, providerMs) => {
  const { timing } = evaluationWith({ gateway: { routing: { modelAttempts } } });
  expect(timing).toEqual({ totalMs: 1, attempts: 1, providerMs });
});

test.each<[unknown, number | null]>([
  ["0.000014112", 0.000014112],
  ["0", 0],
  ["", null],
  ["  ", null],
  ["free", null],
  ["Infinity", null],
  ["-0.01", null],
  ["1.4112e-5", 0.000014112],
  ["0x10", null],
  [0.5, null],
  [undefined, null],
])("takes the market cost %j as %j dollars", (marketCost, costUsd) => {
  expect(evaluationWith({ gateway: { marketCost } }).costUsd).toBe(costUsd);
});

test.each([{ "x-region": "fra1", "set-cookie": ["a=1", "b=2"] }, undefined])(
  "keeps the headers %j within reach",
  (headers) => {
    const response = gatewayBody as unknown as Evaluation<typeof questions>;
    const reply = {
      response,
      modelId: null,
      requestId: null,
      raw: response,
      ...(headers && { headers }),
    };
    const evaluation = toEvaluation(response, {
      reply,
      questions,
      transport: "gateway",
      timing: { totalMs: 1, attempts: 1 },
    });
    expect(evaluation.headers).toEqual(headers ?? {});
  },
);

test.each<[Record<string, unknown>, number | null]>([
  [{ acme: { confidence: { category: 0.5 } } }, 0.5],
  [{ gateway: { confidence: { category: 0.1 } }, acme: { confidence: { category: 0.5 } } }, 0.5],
  [{ other: {}, acme: { confidence: { category: 0.5 } } }, 0.5],
  [{ other: { confidence: {} }, acme: { confidence: { category: 0.5 } } }, 0.5],
  [{ acme: { confidence: { category: 0 } } }, 0],
  [{ acme: { confidence: { category: 1 } } }, 1],
  [{ acme: { confidence: { category: 1.01 } } }, null],
  [{ acme: { confidence: { category: -0.01 } } }, null],
  [{ acme: { confidence: { category: "0.5" } } }, null],
  [{ acme: { confidence: {} } }, null],
  [{ acme: null }, null],
  [{}, null],
])("takes the confidence from %j", (providerMetadata, category) => {
  const { confidence } = evaluationWith(providerMetadata);
  expect(confidence).toEqual({ category, importance: null });
});

test("accepts and rejects the same bodies as the schema", () => {
  const paths = ["rounding", "usage", "warnings", "providerMetadata"] as const;
  const values = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 1.5, 16, -1, Number.NaN));
  const counts = fc.dictionary(
    fc.constantFrom("probabilityDecimals", "scoreDecimals", "inputTokens", "outputTokens"),
    fc.oneof(fc.nat(20), values),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.oneof(values, counts), (path, value) => {
      const response = { ...gatewayBody, [path]: value };
      expect(isTaken(response)).toBe(evaluationResponseSchema.safeParse(response).success);
    }),
    { numRuns: 2000 },
  );
});

function check(response: unknown): void {
  checkReply({ response, modelId: null, requestId: null, raw: response }, questions);
}

/** Whether the form of the body is accepted; its answers may still not fit its rounding. */
function isTaken(response: unknown): boolean {
  try {
    check(response);
    return true;
  } catch (error) {
    return (error as InvalidResponseError).rule !== "body-shape";
  }
}

test.each([
  ["text", "as a whole"],
  [null, "as a whole"],
  [{}, "at answers"],
  [{ ...gatewayBody, answers: [] }, "at answers"],
  [{ ...gatewayBody, usage: { inputTokens: 1 } }, "at usage.outputTokens"],
  [{ ...gatewayBody, usage: { inputTokens: -1, outputTokens: 1 } }, "at usage.inputTokens"],
])("names the path in %j", (response, path) => {
  const message = expect.stringContaining(
    `The response body does not have the shape of an evaluation ${path} (`,
  );
  expect(() => check(response)).toThrow(
    expect.objectContaining({ name: "InvalidResponseError", rule: "body-shape", message }),
  );
});
