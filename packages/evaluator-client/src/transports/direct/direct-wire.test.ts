import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod/mini";
import { readRuntime } from "../../clock.ts";
import { createEvaluator } from "../../create-evaluator.ts";
import { toRecord } from "../../questions/json.ts";
import { boolean, choice, score } from "../../questions/kinds.ts";
import { emailRequest } from "../../testing/email-evaluation.ts";
import { directTransport } from "./direct-transport.ts";
import { systemoneForm } from "./direct-wire.ts";

const responseSchema = z.looseObject({
  model: z.optional(z.string()),
  answers: toRecord(z.looseObject({ type: z.string() })),
  usage: z.nullish(z.looseObject({ input_tokens: z.number(), output_tokens: z.number() })),
});

function isMapped(json: unknown): boolean {
  try {
    systemoneForm.read(json, {}, { vendor: "acme" });
    return true;
  } catch {
    return false;
  }
}

test("maps the responses that match the schema, and no others", () => {
  const some = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 1, -1, "text", Number.NaN));
  const answers = fc.dictionary(fc.string(), fc.oneof(fc.record({ type: some }), some), {
    noNullPrototype: true,
  });
  const usage = fc.record({ input_tokens: some, output_tokens: some }, { requiredKeys: [] });
  const bodies = fc.record(
    { model: some, answers: fc.oneof(answers, some), usage: fc.oneof(usage, some) },
    { requiredKeys: [] },
  );
  const good = { answers: { a: { type: "noul" } }, usage: { input_tokens: 1, output_tokens: 2 } };
  const nearly = bodies.map((body) => ({ ...good, ...body }));
  fc.assert(
    fc.property(fc.oneof(bodies, nearly, some), (body) => {
      expect(isMapped(body)).toBe(responseSchema.safeParse(body).success);
    }),
    { numRuns: 2000 },
  );
});

const context = { clock: readRuntime({}).clock, signal: new AbortController().signal };

function replyTo(json: unknown, headers: Record<string, string> = {}) {
  const fetch = async () => Response.json(json, { headers });
  const transport = directTransport({ apiKey: null, vendor: "acme", fetch, env: {} });
  return transport.send(emailRequest, context);
}

const usage = { input_tokens: 3, output_tokens: 1 };

test("puts the model into the body and names boolean noul, whatever the ids", () => {
  const questions = Object.fromEntries([
    ["__proto__", boolean("sure?", { true: "yes" })],
    ["pick", choice("which?", { a: "A" })],
    ["rate", score("how much?", ["none"])],
  ]);
  expect(systemoneForm.toBody({ state: "text", questions }, "jev-1")).toBe(
    '{"model":"jev-1","state":"text","questions":{"__proto__":{"type":"noul","instructions":"sure?","criteria":{"true":"yes"}},"pick":{"type":"choice","instructions":"which?","criteria":{"a":"A"}},"rate":{"type":"score","instructions":"how much?","criteria":["none"]}}}',
  );
});

test("moves confidence and legend, and keeps every other field", async () => {
  const answers = Object.fromEntries([
    ["__proto__", { type: "choice", choice: "a", confidence: 0.5, note: "kept" }],
    ["rate", { type: "score", score: 1, confidence: null, legend: { "0": "none" } }],
    ["sure", { type: "noul", noul: 0.25, confidence: 1 }],
    ["odd", { type: "refusal" }],
  ]);
  const json = { model: "jev-1", answers, usage };
  const reply = await replyTo(json);
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
])("takes the request id from %j as %j", async (headers, requestId) => {
  expect(await replyTo({ answers: {}, usage }, headers)).toMatchObject({
    requestId,
    modelId: null,
  });
});

test("answers without confidence and legend leave none behind", async () => {
  const json = { answers: { sure: { type: "noul", noul: 0.25 } }, usage };
  expect((await replyTo(json)).response).toStrictEqual({
    answers: { sure: { type: "boolean", probability: 0.25 } },
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    usage: { inputTokens: 3, outputTokens: 1 },
    warnings: [],
    providerMetadata: { acme: { confidence: {}, legend: {} } },
  });
});

test.each<[unknown, string]>([
  [[], "as a whole"],
  [null, "as a whole"],
  ["text", "as a whole"],
  [{ answers: {}, usage: 7 }, "at usage"],
  [{ answers: {}, usage: { input_tokens: 1 } }, "at usage.output_tokens"],
  [{ answers: {}, usage: { input_tokens: "1", output_tokens: 1 } }, "at usage.input_tokens"],
  [{ answers: {}, usage, model: 7 }, "at model"],
  [{ usage }, "at answers"],
  [{ answers: [], usage }, "at answers"],
  [{ answers: { a: 1 }, usage }, "at answers"],
  [{ answers: { a: { type: 1 } }, usage }, "at answers"],
])("rejects the body %j, wrong %s", async (json, where) => {
  await expect(replyTo(json)).rejects.toThrow(
    expect.objectContaining({
      name: "InvalidResponseError",
      message: `The response body does not have the shape of /v1/systemone ${where}; check the base URL and the option "wire".`,
      questionId: null,
      rule: "body-shape",
    }),
  );
});

type Answer = [status: number, body: unknown, headers?: Record<string, string>];

const check = "Check the request against the service's documentation.";

test.each<[Answer, string, object]>([
  [
    [400, { detail: { error_type: "max_tokens_exceeded" } }],
    "The vendor's API answered 400 (max_tokens_exceeded). The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.",
    { name: "StatusError", type: "max_tokens_exceeded" },
  ],
  [
    [
      400,
      { detail: { error_type: "unknown_model", message: "No such model." } },
      { "x-request-id": "r1" },
    ],
    `The vendor's API answered 400 (unknown_model): "No such model." ${check}`,
    { name: "StatusError", type: "unknown_model", requestId: "r1", generationId: null },
  ],
  [
    [
      422,
      {
        detail: [
          { loc: ["body", 0, "a"], msg: "Missing" },
          { loc: ["b"], msg: "Wrong" },
        ],
      },
    ],
    `The vendor's API answered 422: "body.0.a: Missing; b: Wrong". ${check}`,
    { name: "StatusError", type: null },
  ],
  [
    [402, { detail: "No credits." }],
    'The vendor\'s API answered 402: "No credits." Add credits to the account.',
    { name: "StatusError", needsPaidCredits: true },
  ],
  [
    [429, { detail: "Slow down." }],
    'The vendor\'s API answered 429: "Slow down." Wait, or send fewer requests at once.',
    { name: "RateLimitError", needsPaidCredits: false },
  ],
  [
    [429, { detail: "Too many options." }],
    'The vendor\'s API answered 429: "Too many options." Wait, or send fewer requests at once.',
    { name: "RateLimitError" },
  ],
  [
    [403, {}],
    "The vendor's API answered 403. Check the key, and that it may use this model.",
    { name: "AuthenticationError", requestId: null },
  ],
  ...[{ error_type: 7 }, { message: "No." }, [{ msg: "No." }], [{ loc: ["a"] }], 7].map(
    (detail): [Answer, string, object] => [
      [400, { detail }],
      `The vendor's API answered 400. ${check}`,
      { name: "StatusError", type: null },
    ],
  ),
])("reports the vendor's %j", async (answer, message, fields) => {
  const [status, body, headers = {}] = answer;
  const fetch = async () => Response.json(body, { status, headers });
  const transport = directTransport({ apiKey: "a-vendor-key", fetch });
  const asked = createEvaluator({ transport, maxRetries: 0 }).evaluate(emailRequest);
  await expect(asked).rejects.toMatchObject({ message, ...fields });
});
