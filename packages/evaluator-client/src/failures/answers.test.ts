import { describe, expect, test } from "vitest";
import { directBody, gatewayBody } from "../testing/email-evaluation.ts";
import { everyWayAndServer, privateFailure, privateKey } from "../testing/private-call.ts";
import { httpResponse, servers } from "../testing/socket-server.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const refusal = { type: "refusal" };
const { category, importance } = gatewayBody.answers;

// Both services give these answers in the same form.
const brokenAnswers: [string, object, object][] = [
  [
    "an option that was not offered",
    { category: { ...category, choice: "spam" } },
    rule("choice-option", "category"),
  ],
  [
    "a beaten option",
    { category: { ...category, choice: "other" } },
    rule("choice-highest", "category"),
  ],
  [
    "a missing option",
    { category: { ...category, probabilities: { receipt: 1 } } },
    rule("probabilities-keys", "category"),
  ],
  [
    "a wrong sum",
    { category: { ...category, probabilities: { receipt: 0.9, other: 0.2 } } },
    rule("probabilities-sum", "category"),
  ],
  [
    "a score off the mean",
    { importance: { ...importance, score: 0.9 } },
    rule("score-mean", "importance"),
  ],
  [
    "a score off the scale",
    { importance: { ...importance, score: 2 } },
    rule("score-range", "importance"),
  ],
  ["another type", { importance: category }, rule("answer-type", "importance")],
  ["an answer to no question", { deal: { ...category } }, rule("answer-ids", "deal")],
  [
    "a probability over 1",
    { scam: { type: "boolean", probability: 1.01, noul: 1.01 } },
    rule("probabilities-range", "scam"),
  ],
  [
    "a refusal",
    { category: refusal, importance: refusal },
    { name: "RefusalError", questionIds: ["category", "importance"] },
  ],
];

function rule(rule: string, questionId: string | null) {
  return { name: "InvalidResponseError", rule, questionId };
}

// What a chat server answers is read by its transport, whose own tests break it.
const answering = everyWayAndServer.filter(([way]) => !way.startsWith("logprobs"));

describe.each(answering)("%s", (way, transportTo, listen) => {
  const isGateway = way.startsWith("gateway");
  const body = isGateway ? gatewayBody : directBody;

  async function failureFrom(answered: object) {
    const response = httpResponse(200, JSON.stringify(answered));
    await using server = await listen((socket) => socket.write(response));
    const error = await privateFailure(transportTo(server.origin));
    expect(server.requests).toHaveLength(1);
    return error;
  }

  test.each(brokenAnswers)("does not ask again after %s", async (_, answers, fields) => {
    const scam =
      "scam" in answers && !isGateway
        ? { scam: { ...(answers.scam as object), type: "noul" } }
        : {};
    const error = await failureFrom({ ...body, answers: { ...body.answers, ...answers, ...scam } });
    expect(error).toMatchObject({ ...fields, isRetryable: false, attempts: 1 });
  });

  test("does not ask again after a missing answer", async () => {
    const error = await failureFrom({ ...body, answers: { category, importance } });
    expect(error).toMatchObject({ ...rule("answer-ids", "scam"), isRetryable: false, attempts: 1 });
  });

  test.each<[string, object]>([
    ["an error in a success", { error: { message: `No: ${privateKey}` } }],
    ["usage of another kind", { ...body, usage: privateKey }],
    ["a list of answers", { ...body, answers: [privateKey] }],
  ])("does not ask again after %s", async (_, answered) => {
    const error = await failureFrom(answered);
    expect(error).toMatchObject({ ...rule("body-shape", null), isRetryable: false, attempts: 1 });
  });
});

test.each(servers)("%s: takes a refusal of the successor's wire as one", async (_, listen) => {
  const body = { ...gatewayBody, answers: { ...gatewayBody.answers, scam: refusal } };
  const response = httpResponse(200, JSON.stringify(body));
  await using server = await listen((socket) => socket.write(response));
  const options = { apiKey: privateKey, baseUrl: server.origin, env: {} };
  const transport = gatewayTransport({ ...options, wire: "decision-model" });
  const error = await privateFailure(transport);
  expect(error).toMatchObject({ name: "RefusalError", questionIds: ["scam"], attempts: 1 });
  expect(error.message).toContain('declined to answer 1 of 3 questions: "scam"');
  expect(server.requests).toHaveLength(1);
});
