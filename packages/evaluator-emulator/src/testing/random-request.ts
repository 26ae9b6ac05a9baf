import * as fc from "fast-check";
import { evaluationHeaders } from "./requests.ts";

/** A request as the fuzzer sends it. */
export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

// Values are their JSON text from the start: to build objects under random keys, only to print them,
// takes twice the time of all the rest here, and text can hold a key twice, as a caller's can.
type Json = fc.Arbitrary<string>;

const only = (value: unknown): Json => fc.constant(JSON.stringify(value));
const toObject = (pairs: readonly (readonly [key: string, value: string])[]) =>
  `{${pairs.map(([key, value]) => `${key}:${value}`).join(",")}}`;

function listOf(value: Json, bounds: fc.ArrayConstraints): Json {
  return fc.array(value, bounds).map((values) => `[${values.join(",")}]`);
}

function dictionaryOf(key: Json, value: Json, bounds: fc.ArrayConstraints): Json {
  return fc.array(fc.tuple(key, value), bounds).map(toObject);
}

function recordOf(fields: Readonly<Record<string, Json>>): Json {
  const names = Object.keys(fields).map((name) => JSON.stringify(name));
  return fc
    .tuple(...Object.values(fields))
    .map((values) => toObject(names.map((name, index) => [name, values[index] ?? "null"])));
}

const text = fc
  .oneof(
    fc.constantFrom("", "__proto__", "constructor", "hello", "pay the invoice", "1", "other"),
    fc.string({ unit: "grapheme", maxLength: 20 }),
  )
  .map((value) => JSON.stringify(value));
const anything = fc.jsonValue().map((value) => JSON.stringify(value));
// Not fc.jsonValue, which takes three times as long: contents are most of what a request holds.
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const scalar = fc.oneof(
  text,
  number.map((value) => JSON.stringify(value)),
  fc.constantFrom("true", "false", "null"),
);
const something = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: dictionaryOf(text, scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: listOf(scalar, { maxLength: 3 }) },
);
const content = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: dictionaryOf(text, something, { maxLength: 3 }) },
  { weight: 1, arbitrary: listOf(something, { maxLength: 3 }) },
);
const description = fc.oneof(content, only(null));
const levels = listOf(content, { minLength: 1, maxLength: 10 });
// Many options are few among all, for their time grows with them; most stand at the limit of 255.
const options = fc.oneof(
  { weight: 39, arbitrary: dictionaryOf(text, description, { minLength: 1, maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(0, 60, 254, 255, 256, 260)
      .map((count) => toObject(manyOptions.slice(0, count))),
  },
);
const manyOptions = Array.from(
  { length: 260 },
  (_, index) => [`"option ${index}"`, "null"] as const,
);

const questionOf = (booleanType: string) =>
  fc.oneof(
    recordOf({ type: only("choice"), instructions: content, criteria: options }),
    recordOf({ type: only("score"), instructions: content, criteria: levels }),
    recordOf({ type: only(booleanType), instructions: text }),
    recordOf({
      type: only(booleanType),
      criteria: recordOf({ true: content, false: content }),
    }),
  );
const questionsOf = (booleanType: string) =>
  dictionaryOf(text, questionOf(booleanType), { minLength: 1, maxLength: 4 });

const part = fc.oneof(
  recordOf({ type: only("text"), text }),
  recordOf({ type: only("json"), value: content }),
);
const gatewayBody = recordOf({ state: content, questions: questionsOf("boolean") });
const partsBody = recordOf({
  stateParts: listOf(part, { minLength: 1, maxLength: 3 }),
  questions: questionsOf("boolean"),
});
const systemOneBody = (model: string) =>
  recordOf({ model: only(model), state: content, questions: questionsOf("noul") });
const vendorBody = systemOneBody("jev-latest");
const decisionsQuestion = fc.oneof(
  recordOf({ type: only("predicate"), name: text, instructions: text }),
  recordOf({
    type: only("choice"),
    name: text,
    instructions: text,
    choices: listOf(recordOf({ value: scalar, description: text }), { maxLength: 4 }),
  }),
  recordOf({
    type: only("score"),
    name: text,
    instructions: text,
    levels: listOf(recordOf({ label: text }), { maxLength: 4 }),
  }),
);
const decisionsBody = recordOf({
  model: only("gpt-6-luna"),
  input: text,
  questions: listOf(decisionsQuestion, { minLength: 1, maxLength: 4 }),
});
const geminiBody = recordOf({
  model: only("gemini-decision-1"),
  input: text,
  questions: questionsOf("noul"),
});
const role = fc.constantFrom('"user"', '"system"');
const promptBody = recordOf({ prompt: listOf(recordOf({ role, content: text }), {}) });
const anyBody = fc.oneof(gatewayBody, partsBody, vendorBody, promptBody, anything);

const addresses = [
  ["/v4/ai/evaluation-model", gatewayBody],
  ["/v4/ai/decision-model", gatewayBody],
  ["/v4/ai/decision-model", partsBody],
  ["/v4/ai/language-model", promptBody],
  ["/direct/v1/systemone", vendorBody],
  ["/v1/systemone", vendorBody],
  ["/api/alpha/decisions", systemOneBody("typesafe/jev-1.14")],
  ["/v1/decisions", systemOneBody("pplx-decider-v1.3")],
  ["/v1/decisions", decisionsBody],
  ["/v1beta/decisions", geminiBody],
  ["/inference/v1/systemone", systemOneBody("any")],
  ["/client/v4/accounts/a/ai/run/@cf/cloudflare/clef-flash", systemOneBody("clef-flash")],
] as const;
const lookUps = [
  "/v4/ai/config",
  "/v1/models",
  "/v1/models/typesafe-ai/jev/endpoints",
  "/v1/credits",
  "/v1/generation?id=gen_1",
  "/direct/v1/models",
  "/_emulator/requests",
  "/_emulator/faults",
  "/_emulator/top-up",
  "/_emulator/reset",
  "/%E0%A4%A/nowhere",
];

const rightHeaders = {
  ...evaluationHeaders,
  "ai-decision-model-specification-version": "4",
  "ai-language-model-specification-version": "4",
  "ai-language-model-id": "openai/gpt-5-nano",
  "ai-language-model-streaming": "false",
};
const headers = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Record<string, string>>(rightHeaders) },
  { weight: 1, arbitrary: fc.subarray(Object.entries(rightHeaders)).map(Object.fromEntries) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...Object.keys(rightHeaders)), fc.stringMatching(/^[ -~]{0,12}$/))
      .map(([name, value]) => Object.assign({}, rightHeaders, { [name]: value })),
  },
);

/** Texts with one character replaced or the rest cut off. */
function damaged(whole: Json): Json {
  return fc
    .tuple(whole, fc.nat(100_000), fc.string({ maxLength: 2 }), fc.boolean())
    .map(([text, position, put, isCut]) => {
      const at = position % (text.length + 1);
      return text.slice(0, at) + put + (isCut ? "" : text.slice(at + 1));
    });
}

// Not fc.webPath(), which takes more than a second to make ready.
const pathUnit = fc.constantFrom(
  ...Array.from("abz019-._~!$&'()*+,;=:@"),
  "%20",
  "%2F",
  "%E2%82%AC",
);
const randomPath = fc
  .array(fc.string({ unit: pathUnit, maxLength: 8 }), { maxLength: 4 })
  .map((segments) => segments.map((segment) => `/${segment}`).join(""));

const meant = fc.oneof(
  ...addresses.map(([path, body]) =>
    fc.record({
      method: fc.constant("POST"),
      path: fc.constant(path),
      headers,
      body: fc.oneof(
        { weight: 6, arbitrary: body },
        { weight: 1, arbitrary: damaged(body) },
        { weight: 1, arbitrary: anyBody },
        { weight: 1, arbitrary: fc.string() },
      ),
    }),
  ),
);
const astray = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "HEAD"),
  path: fc.oneof(fc.constantFrom(...lookUps, ...addresses.map(([path]) => path)), randomPath),
  headers,
  body: fc.oneof(fc.string(), anyBody),
});

/** Requests to every address, most of them right, the others wrong in some way. */
export const randomRequest: fc.Arbitrary<RandomRequest> = fc.oneof(
  { weight: 5, arbitrary: meant },
  { weight: 1, arbitrary: astray },
);
