import { expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";
import {
  evaluationHeaders,
  post,
  postEvaluation,
  spamQuestion,
  without,
} from "../testing/requests.ts";

const emulator = createEmulator({ exchanges: [], clock: () => 1_000 });

test("an evaluation has the body of contract section 2.3", async () => {
  const fresh = createEmulator({ exchanges: [], clock: () => 1_000 });
  const { status, headers, json } = await postEvaluation(fresh, {
    state: { user_message: "hi" },
    questions: {
      tier: { type: "choice", instructions: "Which?", criteria: { nano: "greeting", big: "code" } },
      level: { type: "score", instructions: "How?", criteria: ["greeting", "emergency"] },
      scam: { type: "boolean", instructions: "Is it a scam?" },
    },
  });
  expect(status).toBe(200);
  expect(headers.get("x-evaluator-emulator")).toBe("basis=lexical");
  expect(json).toMatchInlineSnapshot(`
    {
      "answers": {
        "level": {
          "probabilities": {
            "0": 0.65,
            "1": 0.35,
          },
          "score": 0.35,
          "type": "score",
        },
        "scam": {
          "probability": 0.25,
          "type": "boolean",
        },
        "tier": {
          "choice": "nano",
          "probabilities": {
            "big": 0.29,
            "nano": 0.71,
          },
          "type": "choice",
        },
      },
      "providerMetadata": {
        "gateway": {
          "cost": "0",
          "gatewayCost": "0",
          "generationId": "gen_K9BXBGGWGHAEX20JAP1CB1K3XT",
          "marketCost": "0.000002226",
          "routing": {
            "canonicalSlug": "local/lexical-1",
            "fallbacksAvailable": [],
            "finalProvider": "local",
            "modelAttemptCount": 1,
            "modelAttempts": [
              {
                "canonicalSlug": "local/lexical-1",
                "providerAttemptCount": 1,
                "providerAttempts": [
                  {
                    "credentialType": "system",
                    "endTime": 1000,
                    "provider": "local",
                    "startTime": 1000,
                    "statusCode": 200,
                    "success": true,
                  },
                ],
                "success": true,
              },
            ],
            "originalModelId": "typesafe-ai/jev",
            "planningReasoning": "The local emulator answers by itself; no provider is called.",
            "resolvedProvider": "local",
            "totalProviderAttemptCount": 1,
          },
          "surchargeCost": "0",
        },
        "typesafe": {
          "confidence": {
            "level": 0.07,
            "tier": 0.14,
          },
        },
      },
      "rounding": {
        "probabilityDecimals": 2,
        "scoreDecimals": 2,
      },
      "usage": {
        "inputTokens": 53,
        "outputTokens": 5,
      },
      "warnings": [],
    }
  `);
});

test("the header says when there was nothing to go on", async () => {
  const body = { state: "qwertz", questions: { a: { type: "boolean", instructions: "Zzz?" } } };
  const { headers, json } = await postEvaluation(emulator, body);
  expect(headers.get("x-evaluator-emulator")).toBe("basis=none");
  expect(json).toMatchObject({ answers: { a: { type: "boolean", probability: 0.5 } } });
});

test.each([
  ["authorization", 401, "authentication_error"],
  ["ai-model-id", 400, "invalid_request_error"],
  ["ai-evaluation-model-specification-version", 400, "invalid_request_error"],
  ["ai-gateway-protocol-version", 400, "invalid_request_error"],
  ["ai-gateway-auth-method", 400, "invalid_request_error"],
  ["content-type", 400, "invalid_request_error"],
])("without the header %s: %d %s", async (name, status, type) => {
  const headers = without(evaluationHeaders, name);
  const request = { method: "POST", headers, body: JSON.stringify(spamQuestion) };
  const response = await emulator.fetch("/v4/ai/evaluation-model", request);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { type } });
});

test.each([
  ["ai-gateway-protocol-version", "0.0.2", 400, "invalid_request_error"],
  ["ai-evaluation-model-specification-version", "3", 400, "invalid_request_error"],
  ["ai-gateway-auth-method", "oidc", 400, "invalid_request_error"],
  ["content-type", "text/plain", 400, "invalid_request_error"],
  ["authorization", "Basic abc", 401, "authentication_error"],
  ["ai-model-id", "acme-ai/evaluator", 404, "model_not_found"],
  ["ai-model-id", "openai/gpt-5-nano", 400, "invalid_request_error"],
])("%s: %s gets %d %s", async (name, value, status, type) => {
  const { json, ...response } = await postEvaluation(emulator, spamQuestion, { [name]: value });
  expect(response.status).toBe(status);
  expect(json).toMatchObject({ error: { type } });
});

test("only the given keys are accepted, and no key is repeated", async () => {
  const closed = createEmulator({ exchanges: [], keys: ["right"] });
  const wrong = await postEvaluation(closed, spamQuestion, { authorization: "Bearer wrong-key" });
  expect(wrong.status).toBe(401);
  expect(JSON.stringify(wrong.json)).not.toContain("wrong-key");
  const right = await postEvaluation(closed, spamQuestion, { authorization: "Bearer right" });
  expect(right.status).toBe(200);
});

test("an unknown model is named in the error", async () => {
  const { json } = await postEvaluation(emulator, spamQuestion, { "ai-model-id": "a/b" });
  expect(json).toMatchObject({ error: { type: "model_not_found", param: { modelId: "a/b" } } });
});

const manyOptions = Object.fromEntries(
  Array.from({ length: 256 }, (_, index) => [`o${index}`, ""]),
);

test.each([
  ["not JSON", "{", "JSON"],
  ["nested too deeply", `${"[".repeat(200)}${"]".repeat(200)}`, "nested"],
  ["a list", [], "body"],
  ["no state", { questions: spamQuestion.questions }, "body.state"],
  ["a null state", { ...spamQuestion, state: null }, "body.state"],
  ["no questions", { state: "x", questions: {} }, "at least 1 question"],
  ["an unknown type", ask({ type: "noul", instructions: "?" }), "questions.q"],
  ["no options", ask({ type: "choice", criteria: {} }), "at least 1 option"],
  ["256 options", ask({ type: "choice", criteria: manyOptions }), "at most 255 options"],
  ["options in a list", ask({ type: "choice", criteria: ["a"] }), "questions.q.criteria"],
  ["no levels", ask({ type: "score", criteria: [] }), "at least 1 level"],
  ["11 levels", ask({ type: "score", criteria: Array(11).fill("x") }), "at most 10 levels"],
  ["a null level", ask({ type: "score", criteria: ["x", null] }), "questions.q.criteria.1"],
  ["nothing asked", ask({ type: "boolean" }), "questions.q"],
  ["a state over the limit", { ...spamQuestion, state: "x".repeat(200_000) }, "longer"],
])("%s is rejected with a 400 that says where", async (_what, body, words) => {
  const { status, json } = await postEvaluation(emulator, body);
  expect(status).toBe(400);
  expect(json).toMatchObject({
    error: { type: "invalid_request_error", message: expect.stringContaining(words) },
  });
});

function ask(question: object) {
  return { state: "hello", questions: { q: question } };
}

test("a body over the size limit is a 413", async () => {
  const { status, json } = await postEvaluation(emulator, "x".repeat(33 * 1024 * 1024));
  expect(status).toBe(413);
  expect(json).toMatchObject({ error: { type: "invalid_request_error" } });
});

test("an option without a description is answered by its name alone", async () => {
  const body = ask({ type: "choice", criteria: { status: null, aborted: null } });
  const { json } = await postEvaluation(emulator, { ...body, state: "aborted" });
  expect(json).toMatchObject({ answers: { q: { choice: "aborted" } } });
});

test("ids and option names such as __proto__ are data", async () => {
  const body = `{"state":"x","questions":{"__proto__":{"type":"choice","criteria":{"__proto__":"a","":"b"}},"constructor":{"type":"score","criteria":["a"]}}}`;
  const { status, json } = await postEvaluation(emulator, body);
  expect(status).toBe(200);
  const text = JSON.stringify(json);
  expect(text).toContain('"__proto__":{"type":"choice"');
  expect(text).toContain('"probabilities":{"__proto__":0.5,"":0.5}');
  expect(text).toContain('"confidence":{"__proto__":0,"constructor":1}');
});

test("the successor's wire takes both bodies, answers alike, and names the model", async () => {
  const { "ai-evaluation-model-specification-version": version, ...rest } = evaluationHeaders;
  const headers = { ...rest, "ai-decision-model-specification-version": version };
  const { questions } = spamQuestion;
  const bodies = [
    { state: "hello", questions },
    { stateParts: [{ type: "text", text: "hello" }], questions },
    { stateParts: [{ type: "json", value: { text: "hello" } }], questions, maxOutputTokens: 5 },
  ];
  for (const body of bodies) {
    const { status, json } = await post(emulator, "/v4/ai/decision-model", { headers, body });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      model: "local/lexical-1",
      answers: { spam: { type: "boolean" } },
    });
  }
  const file = { stateParts: [{ type: "file", data: {} }], questions };
  expect((await post(emulator, "/v4/ai/decision-model", { headers, body: file })).status).toBe(400);
});
