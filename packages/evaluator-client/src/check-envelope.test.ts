import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkEnvelope } from "./to-evaluation.ts";
import { evaluationResponseSchema } from "./evaluation.ts";
import { gatewayBody } from "./testing/email-evaluation.ts";

test("takes what the schema takes, and refuses what it refuses", () => {
  const places = ["rounding", "usage", "warnings", "providerMetadata"] as const;
  const values = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 1.5, 16, -1, Number.NaN));
  const counts = fc.dictionary(
    fc.constantFrom("probabilityDecimals", "scoreDecimals", "inputTokens", "outputTokens"),
    fc.oneof(fc.nat(20), values),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.oneof(values, counts), (place, value) => {
      const response = { ...gatewayBody, [place]: value };
      expect(isTaken(response)).toBe(evaluationResponseSchema.safeParse(response).success);
    }),
    { numRuns: 2000 },
  );
});

function isTaken(response: unknown): boolean {
  try {
    checkEnvelope(response);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["text", "the body"],
  [null, "the body"],
  [{}, "answers"],
  [{ ...gatewayBody, answers: [] }, "answers"],
  [{ ...gatewayBody, usage: { inputTokens: 1 } }, "usage.outputTokens"],
])("names the place in %j", (response, place) => {
  const message = expect.stringContaining(`breaks the contract at ${place}: `);
  expect(() => checkEnvelope(response)).toThrow(
    expect.objectContaining({ name: "InvalidResponseError", rule: "body-shape", message }),
  );
});
