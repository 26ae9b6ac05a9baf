import { expect, test } from "vitest";
import { boolean } from "../../questions/kinds.ts";
import { evaluatorOver } from "../../testing/played-chat.ts";

const request = { state: "the letter of quagga", questions: { scam: boolean("Is it?") } };

test.each<[number, unknown, string]>([
  [
    400,
    {
      error: {
        message: "logprobs is not supported with this model.",
        type: "invalid_request_error",
      },
    },
    'The server answered 400 (invalid_request_error): "logprobs is not supported with this model." Choose a model that returns log-probabilities; a reasoning model does not.',
  ],
  [
    404,
    {
      error: { message: 'model "qwen9" not found, try pulling it first', type: "not_found_error" },
    },
    'The server answered 404 (not_found_error): "model "qwen9" not found, try pulling it first". Check the base URL and that the server has this model.',
  ],
  [
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens.",
      type: "BadRequestError",
    },
    'The server answered 400 (BadRequestError): "This model\'s maximum context length is 4096 tokens." Send a smaller state, or start the server with a larger context.',
  ],
  [
    503,
    { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
    'The server answered 503 (unavailable_error): "Loading model". The service failed; try again later.',
  ],
  [
    422,
    { detail: [{ loc: ["body"], msg: "Missing", input: "the letter of quagga" }] },
    "The server answered 422. Check the request against the service's documentation.",
  ],
  [
    500,
    { error: "template failed on: the letter of quagga" },
    "The server answered 500. The service failed; try again later.",
  ],
])("reports %d with %j", async (status, body, message) => {
  const fetch = async () => Response.json(body, { status });
  const asked = evaluatorOver(fetch, { server: "openai" }).evaluate(request);
  await expect(asked).rejects.toMatchObject({ message });
});

test.each([401, 404, 500])("shows no key, header or state that a %d repeats", async (status) => {
  const secrets = ["sk-quagga-0123456789", "quagga-tenant", request.state];
  const body = { error: { message: secrets.join(" and "), type: "quagga-tenant" } };
  const options = { apiKey: "sk-quagga-0123456789", headers: { "x-tenant": "quagga-tenant" } };
  const evaluator = evaluatorOver(async () => Response.json(body, { status }), options);
  const error = await evaluator.evaluate(request).catch((thrown: unknown) => thrown);
  expect(`${JSON.stringify(error)}${(error as Error).stack}`).not.toMatch(/quagga/);
});
