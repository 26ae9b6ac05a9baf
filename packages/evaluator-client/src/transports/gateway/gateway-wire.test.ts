import { expect, test } from "vitest";
import type { JsonResponse } from "../../http/http-client.ts";
import { boolean } from "../../questions/question.ts";
import { fromGatewayResponse, toGatewayBody } from "./gateway-wire.ts";

const questions = { sure: boolean("sure?") };

function replied(json: unknown, headers: Record<string, string> = {}): JsonResponse {
  return { status: 200, json, text: "", headers };
}

test("sends the contract's body as it is, and nothing else with it", () => {
  const request = { state: "text", questions, model: "other" };
  const body = '{"state":"text","questions":{"sure":{"type":"boolean","instructions":"sure?"}}}';
  expect(toGatewayBody(request, "evaluation-model")).toBe(body);
});

test.each([
  ["text", { type: "text", text: "text" }],
  [{ a: 1 }, { type: "json", value: { a: 1 } }],
])("sends the state %j in one part to the successor", (state, part) => {
  const body = { stateParts: [part], questions };
  expect(JSON.parse(toGatewayBody({ state, questions }, "decision-model"))).toEqual(body);
});

const routing = { canonicalSlug: "acme/evaluator" };

test.each<[unknown, string | null, string | null]>([
  [
    { providerMetadata: { gateway: { routing, generationId: "gen_1" } } },
    "acme/evaluator",
    "gen_1",
  ],
  [{ model: "acme/1", providerMetadata: { gateway: { routing } } }, "acme/1", null],
  [{ model: "acme/1", providerMetadata: {} }, "acme/1", null],
  [{ providerMetadata: { gateway: { generationId: "gen_1" } } }, null, "gen_1"],
  [{ providerMetadata: { gateway: { routing: {} } } }, null, null],
  [{ providerMetadata: { gateway: { generationId: 7 } } }, null, null],
  [{ providerMetadata: { gateway: { routing: { canonicalSlug: 7 } } } }, null, null],
  [{ providerMetadata: null }, null, null],
  ["text", null, null],
])("takes who answered from %j", (json, modelId, requestId) => {
  const expected = { response: json, modelId, requestId };
  expect(fromGatewayResponse(replied(json))).toEqual(expected);
});

test.each<[Record<string, string>, string]>([
  [{ "x-request-id": "r1", "x-vercel-id": "r2" }, "r1"],
  [{ "x-vercel-id": "r2" }, "r2"],
  [{}, "gen_1"],
])("takes the request id from %j as %j", (headers, requestId) => {
  const json = { providerMetadata: { gateway: { generationId: "gen_1" } } };
  expect(fromGatewayResponse(replied(json, headers))).toMatchObject({ requestId });
});
