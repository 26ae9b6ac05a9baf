import { questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { nineFields } from "../testing/read-answers.ts";
import { defaultPolicy, testRouter } from "../testing/test-router.ts";
import {
  type Answer as UpstreamAnswer,
  type Differences,
  hangingUpstream,
} from "../testing/upstreams.ts";
import { type RoutingPolicy } from "./decision.ts";
import { tierQuestions } from "./tier-question.ts";

const fails: UpstreamAnswer = () =>
  Response.json({ error: { message: "broken", type: "internal_server_error" } }, { status: 500 });
const hangs = hangingUpstream().answer;
const rejectsFirstModel: UpstreamAnswer = (request) =>
  request.headers.get("ai-language-model-id") === "a/fallback"
    ? Response.json({
        content: [{ type: "text", text: "from the fallback" }],
        finishReason: { unified: "stop" },
        usage: { inputTokens: {}, outputTokens: {} },
        warnings: [],
      })
    : Response.json({ error: { message: "no", type: "model_not_found" } }, { status: 404 });

interface Row {
  readonly policy: Partial<RoutingPolicy>;
  readonly upstream: Differences;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

const rows: [rule: string, row: Row][] = [
  [
    "the choice stands by default",
    {
      policy: {},
      upstream: {},
      headers: { tier: "nano", "tier-chosen": "nano", cause: "choice", model: "openai/gpt-5-nano" },
      body: { tier: "nano", model: "openai/gpt-5-nano" },
    },
  ],
  [
    "too little confidence takes the next tier up",
    {
      policy: { minConfidence: 0.97 },
      upstream: {},
      headers: { tier: "fast", "tier-chosen": "nano", cause: "low-confidence" },
      body: { tier: "nano", model: "google/gemini-3.1-flash-lite", confidence: 0.96 },
    },
  ],
  [
    "a failed evaluation takes the tier named for it",
    {
      policy: { failureTier: "balanced" },
      upstream: { evaluation: fails },
      headers: { tier: "balanced", "tier-chosen": "none", cause: "evaluation-failed" },
      body: { tier: "balanced", model: "anthropic/claude-sonnet-5.5", confidence: null },
    },
  ],
  [
    "a decision over its time limit takes that tier too",
    {
      policy: { failureTier: "fast", decisionTimeoutMs: 1 },
      upstream: { evaluation: hangs },
      headers: { tier: "fast", "tier-chosen": "none", cause: "decision-timeout" },
      body: { tier: "fast", probabilities: { nano: 0, fast: 0, balanced: 0, frontier: 0 } },
    },
  ],
  [
    "a rejected model is replaced by the fallback",
    {
      policy: { fallbackModels: ["a/fallback"] },
      upstream: { reply: rejectsFirstModel },
      headers: { tier: "nano", "tier-chosen": "nano", cause: "model-refused", model: "a/fallback" },
      body: { tier: "nano", model: "a/fallback", reply: "from the fallback" },
    },
  ],
];

test.each(rows)("%s, and the nine fields stay", async (_rule, row) => {
  const policy = { ...defaultPolicy, ...row.policy };
  const { chat } = await testRouter(row.upstream, { policy });
  const response = await chat({ message: "hi" });
  const body = (await response.json()) as object;
  expect(response.status).toBe(200);
  expect(Object.keys(body)).toEqual(nineFields);
  expect(body).toMatchObject({ ...row.body, replyError: null });
  for (const [name, value] of Object.entries(row.headers)) {
    expect(response.headers.get(`x-router-${name}`)).toBe(value);
  }
});

test("without a tier for it, a decision over its time limit is a 504", async () => {
  const policy = { ...defaultPolicy, decisionTimeoutMs: 1 };
  const { chat } = await testRouter({ evaluation: hangs }, { policy });
  expect((await chat({ message: "hi" })).status).toBe(504);
});

test("a reply that fails for another reason is not sent to the fallback", async () => {
  const asked: (string | null)[] = [];
  const reply: UpstreamAnswer = ({ headers }) => {
    asked.push(headers.get("ai-language-model-id"));
    return Response.json(
      { error: { message: "bad", type: "invalid_request_error" } },
      { status: 400 },
    );
  };
  const policy = { ...defaultPolicy, fallbackModels: ["a/fallback"] };
  const { chat } = await testRouter({ reply }, { policy });
  expect(await (await chat({ message: "hi" })).json()).toMatchObject({ reply: "", tier: "nano" });
  expect(asked).toEqual(["openai/gpt-5-nano"]);
});

test("POST /decide gives the decision, applies the policy, and asks no text model", async () => {
  const policy = { ...defaultPolicy, minConfidence: 0.97 };
  const { request, seen } = await testRouter({}, { policy });
  const response = await request("/decide", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"message":"hi"}',
  });
  expect(response.headers.get("x-router-cause")).toBe("low-confidence");
  expect(await response.json()).toEqual({
    tierChosen: "nano",
    tierUsed: "fast",
    cause: "low-confidence",
    model: "google/gemini-3.1-flash-lite",
    upstream: "gateway",
    probabilities: { nano: 0.97, fast: 0.02, balanced: 0, frontier: 0 },
    confidence: 0.96,
    decisionMs: expect.any(Number),
    costUsd: expect.any(Number),
    evaluationId: expect.anything(),
    evaluatorModelId: "typesafe-ai/jev",
    questionHash: questionHash(tierQuestions),
    wire: "emulator gateway http://gateway.invalid/v4/ai",
    printedProbabilities: null,
    promise: null,
    prices: { model: null, frontier: null },
  });
  expect(seen.map(({ path }) => path)).toEqual(["/v4/ai/evaluation-model"]);
});
