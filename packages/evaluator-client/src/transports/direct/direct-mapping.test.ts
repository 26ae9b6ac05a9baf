import { expect, test } from "vitest";
import type { JsonResponse } from "../../http/http-client.ts";
import { boolean, choice, score } from "../../questions/question.ts";
import { fromDirectResponse, toDirectBody } from "./direct-wire.ts";

function replied(json: unknown, headers: Record<string, string> = {}): JsonResponse {
  return { status: 200, json, text: "", headers };
}

const usage = { input_tokens: 3, output_tokens: 1 };

test("puts the model into the body and names boolean noul, whatever the ids", () => {
  const questions = Object.fromEntries([
    ["__proto__", boolean("sure?", { true: "yes" })],
    ["pick", choice("which?", { a: "A" })],
    ["rate", score("how much?", ["none"])],
  ]);
  expect(toDirectBody({ state: "text", questions }, "jev-1")).toBe(
    '{"model":"jev-1","state":"text","questions":{"__proto__":{"type":"noul","instructions":"sure?","criteria":{"true":"yes"}},"pick":{"type":"choice","instructions":"which?","criteria":{"a":"A"}},"rate":{"type":"score","instructions":"how much?","criteria":["none"]}}}',
  );
});

test("moves confidence and legend, and keeps every other field", () => {
  const answers = Object.fromEntries([
    ["__proto__", { type: "choice", choice: "a", confidence: 0.5, note: "kept" }],
    ["rate", { type: "score", score: 1, confidence: null, legend: { "0": "none" } }],
    ["sure", { type: "noul", noul: 0.25, confidence: 1 }],
    ["odd", { type: "refusal" }],
  ]);
  const json = { model: "jev-1", answers, usage };
  const reply = fromDirectResponse(replied(json), "acme");
  expect(reply).toMatchObject({ modelId: "jev-1", requestId: null });
  expect(JSON.parse(JSON.stringify(reply.response))).toEqual(
    JSON.parse(
      `{"answers":{"__proto__":{"type":"choice","choice":"a","note":"kept"},"rate":{"type":"score","score":1},"sure":{"type":"boolean","probability":0.25},"odd":{"type":"refusal"}},
      "rounding":{"probabilityDecimals":2,"scoreDecimals":2},"usage":{"inputTokens":3,"outputTokens":1},"warnings":[],
      "providerMetadata":{"acme":{"confidence":{"__proto__":0.5,"rate":null,"sure":1},"legend":{"rate":{"0":"none"}}}}}`,
    ),
  );
});

test.each<[Record<string, string>, string | null]>([
  [{ "x-typesafe-request-id": "r1", "x-request-id": "r2" }, "r1"],
  [{ "x-request-id": "r2" }, "r2"],
  [{}, null],
])("takes the request id from %j as %j", (headers, requestId) => {
  const reply = fromDirectResponse(replied({ answers: {}, usage }, headers), "acme");
  expect(reply).toMatchObject({ requestId, modelId: null });
});

test.each<[unknown, string]>([
  [[], "as a whole"],
  [null, "as a whole"],
  ["text", "as a whole"],
  [{ answers: {} }, "at usage"],
  [{ answers: {}, usage: { input_tokens: 1 } }, "at usage.output_tokens"],
  [{ answers: {}, usage: { input_tokens: "1", output_tokens: 1 } }, "at usage.input_tokens"],
  [{ answers: {}, usage, model: 7 }, "at model"],
  [{ usage }, "at answers"],
  [{ answers: [], usage }, "at answers"],
  [{ answers: { a: 1 }, usage }, "at answers"],
  [{ answers: { a: { type: 1 } }, usage }, "at answers"],
])("refuses the body %j, wrong %s", (json, where) => {
  expect(() => fromDirectResponse(replied(json), "acme")).toThrow(
    expect.objectContaining({
      name: "InvalidResponseError",
      message: `The response body does not have the vendor's shape ${where}; check the base URL.`,
      questionId: null,
      rule: "body-shape",
    }),
  );
});
