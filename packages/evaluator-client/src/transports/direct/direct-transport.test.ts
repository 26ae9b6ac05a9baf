import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { boolean } from "../../questions/kinds.ts";
import { directTransport, type DirectTransportOptions } from "./direct-transport.ts";

const own = { apiKey: null, baseUrl: "http://127.0.0.1:8000/v1", model: "a-model", env: {} };

/** Asks a server whether something is so, which answers with this status and body. */
async function ask(options: DirectTransportOptions, answered: { status: number; body: unknown }) {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    urls.push(url);
    return Response.json(answered.body, { status: answered.status });
  };
  const transport = directTransport({ ...own, fetch, ...options });
  const asked = { state: "text", questions: { approved: boolean("Is it?") } };
  const failure: unknown = await createEvaluator({ transport, maxRetries: 0 })
    .evaluate(asked)
    .catch((error: unknown) => error);
  return { urls, failure };
}

test.each<[number, unknown, string]>([
  [
    501,
    {
      error: {
        code: 501,
        message: "This model is not a decision model",
        type: "not_supported_error",
      },
    },
    'The vendor\'s API answered 501 (not_supported_error): "This model is not a decision model". This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.',
  ],
  [
    400,
    { error: "choice questions take 2 to 26 options, got 255" },
    'The vendor\'s API answered 400: "choice questions take 2 to 26 options, got 255". If there are too many options: Ollama takes 2 to 26, vLLM 26, some hosted servers 208 and the vendor 255. Ask with fewer, or set questionLimits.maxOptions to refuse more before sending.',
  ],
  [
    422,
    {
      detail: [
        {
          loc: ["body", "questions", 0, "choices"],
          msg: "List should have at most 26 items",
          input: "x",
        },
      ],
    },
    "vLLM 26",
  ],
])("reports a server's own %d", async (status, answered, message) => {
  for (const wire of ["systemone", "decisions"] as const) {
    const { failure } = await ask({ wire }, { status, body: answered });
    expect(failure).toMatchObject({
      status,
      isRetryable: false,
      message: expect.stringContaining(message),
    });
  }
});

test.each([
  ["http://127.0.0.1/v1/proxy", "http://127.0.0.1/v1/proxy/v1/systemone"],
  ["http://127.0.0.1/proxy/v1", "http://127.0.0.1/proxy/v1/systemone"],
  ["http://127.0.0.1/proxy", "http://127.0.0.1/proxy/v1/systemone"],
])("asks the server at %s under %s", async (baseUrl, url) => {
  const { urls } = await ask({ baseUrl }, { status: 400, body: {} });
  expect(urls).toEqual([url]);
});

test("the decisions form requires an address and a model, and an unknown wire is rejected", () => {
  const make = (options: DirectTransportOptions) => () =>
    directTransport({ apiKey: null, env: {}, ...options });
  const rejected = (option: string) =>
    expect.objectContaining({ name: "ConfigurationError", option });
  expect(make({ wire: "decisions", model: "m" })).toThrow(rejected("baseUrl"));
  expect(make({ wire: "decisions", baseUrl: "http://127.0.0.1" })).toThrow(rejected("model"));
  expect(make({ wire: "pigeon" as never })).toThrow(rejected("wire"));
  expect(make({ wire: "pigeon" as never })).toThrow(
    'The option "wire" is none of systemone, decisions, gemini.',
  );
  expect(directTransport({ ...own, wire: "decisions" }).limits).toBeUndefined();
});
