import { APIError } from "openai";
import { expect, test } from "vitest";
import { collect } from "../../apps/router/src/testing/read-answers.ts";
import { replyStream } from "../../apps/router/src/testing/reply-stream.ts";
import { openAiClient } from "./openai-client.ts";

const greeting = [{ role: "user" as const, content: "hi" }];

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error("The call did not fail.");
}

const failing = {
  reply: () => Response.json({ error: { message: "Not for you." } }, { status: 403 }),
};

test.each([true, false])(
  "a failed reply is the package's own error (stream: %s)",
  async (stream) => {
    const { client, seen } = await openAiClient(failing);
    const error = await failureOf(
      client.chat.completions.create({ model: "auto", messages: greeting, stream }),
    );
    expect(error.status).toBe(502);
    expect(error.message).toContain("Not for you.");
    expect(error.headers?.get("x-router-tier")).toBe("nano");
    expect(seen).toHaveLength(2); // the package did not try again
  },
);

test.each([true, false])(
  "a conversation over the model's context is an error in the model's words, once (stream: %s)",
  async (stream) => {
    const message = "This model's maximum context length is 8 tokens.";
    const reply = () =>
      Response.json({ error: { message, type: "invalid_request_error" } }, { status: 400 });
    const { client, seen } = await openAiClient({ reply }, { ROUTER_FALLBACK_MODELS: "a/b" });
    const error = await failureOf(
      client.chat.completions.create({ model: "auto", messages: greeting, stream }),
    );
    expect(error.status).toBe(400);
    expect(error.message.split(message)).toHaveLength(2);
    expect(seen).toHaveLength(3); // the decision, its model, and the fallback, which may have more room
  },
);

test("a stream that breaks off is an error, not an end", async () => {
  const { client } = await openAiClient({ reply: () => replyStream(["half "], { isCut: true }) });
  const stream = await client.chat.completions.create({
    model: "auto",
    messages: greeting,
    stream: true,
  });
  await expect(collect(stream)).rejects.toBeInstanceOf(APIError);
});

test("a model that is not here is the package's own error, and says which are", async () => {
  const { client, seen } = await openAiClient();
  const error = await failureOf(
    client.chat.completions.create({ model: "llama-99", messages: greeting }),
  );
  expect(error).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  expect(error.message).toContain("use auto, nano, fast, balanced, frontier, a model");
  expect(seen).toEqual([]);
});

test("every HTTP error is in OpenAI's form, wherever it comes from", async () => {
  const { origin } = await openAiClient({}, { ROUTER_ACCESS_TOKEN: "a-token-of-many-characters" });
  const own = { authorization: "Bearer a-token-of-many-characters" };
  const json = { ...own, "content-type": "application/json" };
  const rows: [path: string, init: RequestInit, status: number, type: string][] = [
    ["/v1/models", {}, 401, "authentication_error"],
    ["/v1/models", { headers: { ...own, origin: "http://evil.example" } }, 403, "permission_error"],
    ["/v1/nothing", { headers: own }, 404, "invalid_request_error"],
    ["/v1/chat/completions", { headers: own }, 405, "invalid_request_error"],
    ["/v1/chat/completions", { method: "POST", headers: own }, 415, "invalid_request_error"],
    [
      "/v1/chat/completions",
      { method: "POST", headers: json, body: "{" },
      400,
      "invalid_request_error",
    ],
  ];
  for (const [path, init, status, type] of rows) {
    const response = await fetch(origin + path, init);
    const error = { message: expect.stringMatching(/\S/), type, param: null, code: null };
    expect({ status: response.status, body: await response.json() }).toEqual({
      status,
      body: { error },
    });
  }
});

test("the package asks an overloaded model again", async () => {
  let overloaded = 3; // the router's own attempts
  const reply = () => {
    overloaded -= 1;
    const [status, headers] = [529, { "retry-after": "0" }];
    return overloaded < 0 ? replyStream(["fine"]) : Response.json({}, { status, headers });
  };
  const { client, seen } = await openAiClient({ reply });
  const { choices } = await client.chat.completions.create({ model: "nano", messages: greeting });
  expect(choices[0]?.message.content).toBe("fine");
  expect(seen).toHaveLength(4);
});

test("a failed evaluation is the package's own error, and is not asked for again", async () => {
  const { client, seen } = await openAiClient({
    evaluation: () => Response.json({ error: { message: "Moved." } }, { status: 500 }),
  });
  const error = await failureOf(
    client.chat.completions.create({ model: "auto", messages: greeting }),
  );
  expect(error).toMatchObject({ status: 502, type: "api_error" });
  expect(seen).toHaveLength(1);
});
