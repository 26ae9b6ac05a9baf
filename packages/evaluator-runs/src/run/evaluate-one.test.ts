import {
  AuthenticationError,
  boolean,
  createEvaluator,
  type Evaluator,
  gatewayTransport,
  StatusError,
} from "evaluator-client";
import { expect, test } from "vitest";
import { endsRun, evaluateOne } from "./evaluate-one.ts";

const details = {
  requestId: null,
  generationId: null,
  retryAfterMs: null,
  needsPaidCredits: false,
};
const shorten =
  "The record is too long for the service. Shorten the record; it is asked again if it, the questions or the engine change.";

/** Returns how a call ends that the service answers with a status. */
async function failure(status: number, message: string, type: string | null = null) {
  const isRetryable = status === 429;
  const cause = new StatusError(message, { ...details, status, type, isRetryable });
  const evaluator = { evaluate: () => Promise.reject(cause) } as unknown as Evaluator;
  const request = { state: {}, questions: {} };
  const { signal } = new AbortController();
  return { cause, end: await evaluateOne(evaluator, request, { signal }) };
}

test.each([
  [413, "Send a smaller state.", null, true],
  [400, "The state and its questions are too long.", null, true],
  [400, "The service answered 400.", "max_tokens_exceeded", true],
  [422, "The request exceeds the available context size.", null, true],
  [400, "Your credit balance is too low.", null, false],
  [400, "API key not valid.", "invalid_request_error", false],
  [404, "The context length of no such model is known.", null, false],
  [429, "Too many tokens per minute.", null, false],
])(
  "a %i with the message %j and the type %j refuses the record each time: %j",
  async (status, message, type, isRefusal) => {
    expect((await failure(status, message, type)).end).toMatchObject({ isRefusal });
  },
);

test.each([
  [413, "The gateway answered 413. Send a smaller state.", "The gateway answered 413."],
  [
    400,
    'The server answered 400 (BadRequestError): "The "context" is too long." Send a smaller state.',
    'The server answered 400 (BadRequestError): "The "context" is too long."',
  ],
  [413, "Our box takes 4 kB.", "Our box takes 4 kB."],
])("of a %i with the message %j is kept %j, and what to do", async (status, message, kept) => {
  expect((await failure(status, message)).end).toMatchObject({ error: `${kept} ${shorten}` });
});

test("a cut state fails a call with a promise, and its price is known", async () => {
  const cut = { warnings: [{ type: "state-cut", message: "…" }], costUsd: 0.01 };
  const evaluator = { evaluate: () => Promise.resolve(cut) } as unknown as Evaluator;
  const { signal } = new AbortController();
  const request = { state: {}, questions: {} };
  expect(await evaluateOne(evaluator, request, { signal })).toEqual({ evaluation: cut });
  expect(await evaluateOne(evaluator, request, { signal, hasPromise: true })).toMatchObject({
    isRefusal: true,
    error: expect.stringMatching(/^The service did not read the whole state/),
    paid: cut,
  });
});

test("a state that the client refuses as too long is not asked again, a wrong question is", async () => {
  const fetch = () => Promise.reject(new Error("sent"));
  const evaluator = createEvaluator({ transport: gatewayTransport({ apiKey: "a-key", fetch }) });
  const { signal } = new AbortController();
  const asked = async (state: string, instructions: string) => {
    const request = { state, questions: { scam: boolean(instructions) } };
    return evaluateOne(evaluator, request, { signal });
  };
  expect(await asked("word ".repeat(33_000), "Is it a scam?")).toMatchObject({
    isRefusal: true,
    error: `The state is too long: more than the 32,000 tokens that the service gateway reads. ${shorten}`,
  });
  expect(await asked("word", "")).toMatchObject({ isRefusal: false });
});

test("other errors keep their advice", async () => {
  const message = "The gateway answered 404. Check the base URL and the model id.";
  const { cause, end } = await failure(404, message);
  expect(end).toEqual({ error: message, isRefusal: false, cause });
});

test.each([
  [StatusError, 402, true],
  [AuthenticationError, 401, true],
  [StatusError, 400, false],
  [StatusError, 503, false],
])("a %o with the status %i ends the run: %j", (ErrorClass, status, isEnd) => {
  const error = new ErrorClass("No.", { ...details, status, type: null, isRetryable: false });
  expect(endsRun(error)).toBe(isEnd);
});
