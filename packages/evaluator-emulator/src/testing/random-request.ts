import * as fc from "fast-check";
import { evaluationHeaders } from "./requests.ts";

/** A request as the fuzzer sends it. */
export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const text = fc.oneof(
  fc.constantFrom("", "__proto__", "constructor", "hello", "pay the invoice", "1", "other"),
  fc.string({ unit: "grapheme", maxLength: 20 }),
);
const content = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }) },
);
const description = fc.oneof(content, fc.constant(null));
const levels = fc.array(content, { minLength: 1, maxLength: 10 });
const options = fc.oneof(
  { weight: 9, arbitrary: fc.dictionary(text, description, { minKeys: 1, maxKeys: 8 }) },
  {
    weight: 1,
    arbitrary: fc.nat(260).map((count) => Object.fromEntries(manyNames(count))),
  },
);

function manyNames(count: number): [string, null][] {
  return Array.from({ length: count }, (_, index) => [`option ${index}`, null]);
}

const questionOf = (booleanType: string) =>
  fc.oneof(
    fc.record({ type: fc.constant("choice"), instructions: content, criteria: options }),
    fc.record({ type: fc.constant("score"), instructions: content, criteria: levels }),
    fc.record({ type: fc.constant(booleanType), instructions: text }),
    fc.record({
      type: fc.constant(booleanType),
      criteria: fc.record({ true: content, false: content }),
    }),
  );
const questionsOf = (booleanType: string) =>
  fc.dictionary(text, questionOf(booleanType), { minKeys: 1, maxKeys: 4 });

const part = fc.oneof(
  text.map((text) => ({ type: "text", text })),
  content.map((value) => ({ type: "json", value })),
);
const gatewayBody = fc.record({ state: content, questions: questionsOf("boolean") });
const partsBody = fc.record({
  stateParts: fc.array(part, { minLength: 1, maxLength: 3 }),
  questions: questionsOf("boolean"),
});
const vendorBody = fc.record({
  model: fc.constant("jev-latest"),
  state: content,
  questions: questionsOf("noul"),
});
const promptBody = fc.record({
  prompt: fc.array(fc.record({ role: fc.constantFrom("user", "system"), content: text })),
});
const anyBody = fc.oneof(gatewayBody, partsBody, vendorBody, promptBody, fc.jsonValue());

const addresses = [
  ["/v4/ai/evaluation-model", gatewayBody],
  ["/v4/ai/decision-model", gatewayBody],
  ["/v4/ai/decision-model", partsBody],
  ["/v4/ai/language-model", promptBody],
  ["/direct/v1/systemone", vendorBody],
  ["/v1/systemone", vendorBody],
] as const;
const lookUps = [
  "/v4/ai/config",
  "/v1/models",
  "/v1/models/typesafe-ai/jev/endpoints",
  "/v1/credits",
  "/v1/generation?id=gen_1",
  "/direct/v1/models",
  "/_emulator/journal",
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

/** A text with one character replaced or the rest cut off. */
function damaged(whole: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(whole.length), fc.string({ maxLength: 2 }), fc.boolean())
    .map(([at, put, isCut]) => whole.slice(0, at) + put + (isCut ? "" : whole.slice(at + 1)));
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

const meant = fc.constantFrom(...addresses).chain(([path, body]) =>
  fc.record({
    method: fc.constant("POST"),
    path: fc.constant(path),
    headers,
    body: fc.oneof(
      { weight: 6, arbitrary: body.map((json) => JSON.stringify(json)) },
      { weight: 1, arbitrary: body.chain((json) => damaged(JSON.stringify(json))) },
      { weight: 1, arbitrary: anyBody.map((json) => JSON.stringify(json)) },
      { weight: 1, arbitrary: fc.string() },
    ),
  }),
);
const astray = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "HEAD"),
  path: fc.oneof(fc.constantFrom(...lookUps, ...addresses.map(([path]) => path)), randomPath),
  headers,
  body: fc.oneof(
    fc.string(),
    anyBody.map((json) => JSON.stringify(json)),
  ),
});

/** Requests to every address, most of them right, the others wrong in some way. */
export const randomRequest: fc.Arbitrary<RandomRequest> = fc.oneof(
  { weight: 5, arbitrary: meant },
  { weight: 1, arbitrary: astray },
);
