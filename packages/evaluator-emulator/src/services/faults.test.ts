import { expect, test } from "vitest";
import { ask, names } from "../testing/service-requests.ts";

const asked = "The emulator was asked for this error.";
test.each([
  ["openai", 429, { error: { message: asked, type: "requests", code: "rate_limit_exceeded" } }],
  ["openai", 500, { error: { type: "server_error", code: null } }],
  [
    "gemini",
    429,
    { error: { code: 429, status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "7s" }] } },
  ],
  ["gemini", 504, { error: { code: 504, status: "DEADLINE_EXCEEDED" } }],
  ["openrouter", 529, { error: { code: 529, metadata: { retry_after_seconds: 7 } } }],
  ["perplexity", 503, { error: { message: asked, code: null, param: null } }],
  ["cloudflare", 429, { result: null, success: false, errors: [{ code: 3040, message: asked }] }],
  ["cloudflare", 502, { errors: [{ code: 5012 }] }],
  ["fireworks", 422, { error: { type: "invalid_request_error" } }],
  ["vercel", 429, { error: { message: asked, type: "rate_limit_exceeded" } }],
  ["liquid", 429, { error: { message: asked, type: "requests" } }],
] as const)("a fault at %s with status %d has the service's body", async (name, status, json) => {
  const response = await ask(name, { faults: [{ kind: "status", status, retryAfter: 7 }] });
  expect(response).toMatchObject({ status, json });
  // Google has the wait in the body only.
  expect(response.headers.get("retry-after")).toBe(name === "gemini" ? null : "7");
});

test.each([
  ["openai", 429, { error: { type: "insufficient_quota", code: "insufficient_quota" } }],
  ["gemini", 429, { error: { details: [{ violations: [{}] }] } }],
  ["openrouter", 402, { error: { code: 402 } }],
  ["cloudflare", 429, { errors: [{ code: 4006 }] }],
] as const)("an exhausted quota at %s is a %d of its own", async (name, status, json) => {
  const faults = [{ kind: "exhausted-quota" }] as const;
  expect(await ask(name, { faults })).toMatchObject({ status, json });
});

test.each([
  ["openai", { answers: [{ name: "scam", type: "refusal" }, { choice: "prize" }, {}] }],
  ["openrouter", { answers: { scam: { type: "refusal" }, kind: { choice: "prize" } } }],
  ["cloudflare", { success: true, result: { answers: { scam: { type: "refusal" } } } }],
] as const)("a refusal of the first question at %s leaves the others", async (name, json) => {
  expect((await ask(name, { faults: [{ kind: "first-refusal" }] })).json).toMatchObject(json);
});

test("Google blocks the whole input, and still bills it", async () => {
  for (const kind of ["refusal", "first-refusal"] as const) {
    const { status, json } = await ask("gemini", { faults: [{ kind }] });
    expect(status).toBe(200);
    expect(json).toEqual({
      prompt_feedback: { block_reason: "safety", block_reason_message: "Blocked." },
      usage: expect.objectContaining({ total_input_tokens: 55 }),
    });
  }
});

test.each(names)("the answers of %s can be wrong, missing, cut or alone", async (name) => {
  const spoilt = async (kind: "wrong-sums" | "missing-answer" | "cut-state" | "answers-only") => {
    const { json } = await ask(name, { faults: [{ kind }] });
    return ((json as { result?: object }).result ?? json) as {
      answers: object;
      usage?: object;
    };
  };
  const values = Object.values((await spoilt("wrong-sums")).answers) as Record<string, unknown>[];
  expect(values[0]?.["noul"] ?? values[0]?.["probability"]).toBe(1.5);
  const shares = Object.values(values[1]?.["probabilities"] as object) as unknown[];
  expect(shares.map((share) => (share as { probability?: number }).probability ?? share)).toEqual([
    1, 1,
  ]);
  expect(Object.keys((await spoilt("missing-answer")).answers)).toHaveLength(2);
  expect((await spoilt("cut-state")).usage).toMatchObject({ truncated: true });
  const alone = await spoilt("answers-only");
  expect(Object.keys(alone).toSorted()).toEqual(
    name === "gemini" ? ["answers"] : ["answers", "model"],
  );
});
