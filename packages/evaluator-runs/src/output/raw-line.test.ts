import { createEvaluator } from "evaluator-client";
import { expect, test } from "vitest";
import { recordingTransport, sampleQuestions, sampleResponse } from "../testing/samples.ts";
import { toRawLine } from "./write-records.ts";

async function sampleEvaluation() {
  const evaluator = createEvaluator({ transport: recordingTransport() });
  return await evaluator.evaluate({ state: { subject: "Lunch" }, questions: sampleQuestions });
}

test("one call is one line of JSON: the id, the answers, the provider metadata", async () => {
  const line = toRawLine("m-1", await sampleEvaluation());
  const { answers, providerMetadata } = sampleResponse();
  expect(line).toBe(`${JSON.stringify({ id: "m-1", answers, providerMetadata })}\n`);
});

test("what would steer a terminal is written as an escape and still parses to the same", async () => {
  const id = "a\u001b[2J\u009b31m\u202eb\u2028c\u{e0041}";
  const line = toRawLine(id, await sampleEvaluation());
  expect(line).toContain(String.raw`"a\u001b[2J\u009b31m\u202eb\u2028c\udb40\udc41"`);
  expect(JSON.parse(line)).toMatchObject({ id });
});
