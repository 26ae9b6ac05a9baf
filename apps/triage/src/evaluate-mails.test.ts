import { createEvaluator, EvaluatorError, type Transport } from "evaluator-client";
import { expect, test } from "vitest";
import { type EvaluatedMail, evaluateMails } from "./evaluate-mails.ts";
import type { Mail } from "./input/mail.ts";
import { recordingTransport } from "./testing/recording-transport.ts";
import { sampleMail } from "./testing/sample-mail.ts";
import { sampleResponse } from "./testing/sample-response.ts";
import { triageQuestions } from "./triage-questions.ts";

const mails = ["m-1", "m-2", "m-3"].map((id) => sampleMail({ id, subject: `Subject of ${id}` }));

async function evaluateThrough(transport: Transport, signal = new AbortController().signal) {
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  const evaluated: EvaluatedMail[] = [];
  const questions = triageQuestions("Ada");
  for await (const item of evaluateMails(mails, { evaluator, questions, signal })) {
    evaluated.push(item);
  }
  return evaluated;
}

test("asks one request for each mail, in input order, never two at once", async () => {
  const transport = recordingTransport((index) => sampleResponse({ importance: index }));
  const evaluated = await evaluateThrough(transport);
  const subjects = transport.requests.map(({ state }) => (state as unknown as Mail).subject);
  expect(subjects).toEqual(["Subject of m-1", "Subject of m-2", "Subject of m-3"]);
  expect(transport.mostAtOnce()).toBe(1);
  expect(evaluated.map(({ mail }) => mail.id)).toEqual(["m-1", "m-2", "m-3"]);
  const scores = evaluated.map(({ evaluation }) => evaluation.answers.importance.score);
  expect(scores).toEqual([0, 1, 2]);
});

test("the state is from, subject, date and snippet, in this order and nothing else", async () => {
  const transport = recordingTransport();
  await evaluateThrough(transport);
  expect(JSON.stringify(transport.requests[0]?.state)).toBe(
    JSON.stringify({
      from: "Northbank <alerts@northbank.example>",
      subject: "Subject of m-1",
      date: "2026-11-02",
      snippet: "The statement for October can be downloaded.",
    }),
  );
});

test("every request carries the four questions, about the user by name", async () => {
  const transport = recordingTransport();
  await evaluateThrough(transport);
  for (const { questions } of transport.requests) expect(questions).toEqual(triageQuestions("Ada"));
});

test("stops at the first record without an answer and names it", async () => {
  const transport = recordingTransport((index) => (index === 1 ? {} : sampleResponse()));
  await expect(evaluateThrough(transport)).rejects.toThrow(
    /^Stopped at the record at index 1 \(id "m-2"\): The response .*\n1 of 3 records were answered/,
  );
  expect(transport.requests).toHaveLength(2);
});

test("what the service says about a failure cannot steer the terminal", async () => {
  const transport = recordingTransport(() => {
    throw new EvaluatorError("Busy\u001b[2J\u202e, try\nlater.");
  });
  await expect(evaluateThrough(transport)).rejects.toThrow(/: Busy, try later\.\n0 of 3 /);
});

test("an abort passes through with its own reason, and nothing more is asked", async () => {
  const aborted = new AbortController();
  const transport = recordingTransport((index) => {
    if (index === 1) aborted.abort(new Error("enough"));
    return sampleResponse();
  });
  await expect(evaluateThrough(transport, aborted.signal)).rejects.toThrow("enough");
  expect(transport.requests).toHaveLength(2);
});
