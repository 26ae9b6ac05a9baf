import { describe, expect, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { parseRouterOptions } from "../router-options.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { readEvents } from "../testing/read-answers.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { servicesOver, testRouter } from "../testing/test-router.ts";
import { hangingUpstream, testGateway } from "../testing/upstreams.ts";

const token = "a-token-of-many-characters";

type Form = (typeof apiForms)[number]["name"];

/** Returns an error in the form of an API. */
function errorOf(form: Form, type: string, message: unknown = expect.stringMatching(/\S/)) {
  if (form === "messages") return { type: "error", error: { type, message } };
  const nullable = expect.toSatisfy((value) => value === null || typeof value === "string");
  return { error: { message, type, param: nullable, code: nullable } };
}

const openAiTypes: Readonly<Record<string, string>> = {
  not_found_error: "invalid_request_error",
  request_too_large: "invalid_request_error",
  overloaded_error: "api_error",
};

/** Returns the type of an error, by its name in the Messages API. */
function typeIn(form: Form, type: string): string {
  return form === "messages" ? type : (openAiTypes[type] ?? type);
}

/** Returns the refusal of a service, a 429 by default. */
function refuse(status: number, headers: Record<string, string> = {}) {
  const error = { message: "Slow down.", type: "rate_limit_exceeded" };
  return () => Response.json({ error }, { status, headers });
}

const code = "context_length_exceeded";
const limited = refuse(429, { "retry-after": "61" });

describe.each(apiForms)("$path", ({ name, path, ask }) => {
  const body = ask(["hi"]);

  test.each<[type: string, status: number, init: RequestInit]>([
    ["invalid_request_error", 400, { ...post({}), body: "{" }],
    ["invalid_request_error", 400, post([])],
    ["permission_error", 403, post(body, { origin: "http://evil.example" })],
    ["permission_error", 403, post(body, { host: "evil.example" })],
    ["not_found_error", 404, post({ ...body, model: "no-such-model" })],
    ["not_found_error", 404, post({ ...body, model: "no/such-model" })],
    ["invalid_request_error", 405, {}],
    ["request_too_large", 413, post(body, { "content-length": "99999999" })],
    ["invalid_request_error", 415, { ...post(body), headers: {} }],
    ["invalid_request_error", 415, post(body, { "content-type": "text/plain" })],
  ])("%s (%i) has the form of the API (row %$)", async (type, status, init) => {
    const { request } = await testRouter();
    const response = await request(path, init);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(errorOf(name, typeIn(name, type)));
  });

  test("without the token it is 401; x-api-key and a bearer token are taken", async () => {
    const { request } = await testRouter({}, { accessToken: token });
    for (const headers of [{}, { "x-api-key": "another" }, { authorization: "Bearer another" }]) {
      const response = await request(path, post(body, headers));
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual(errorOf(name, "authentication_error"));
    }
    for (const headers of [{ "x-api-key": token }, { authorization: `Bearer ${token}` }]) {
      expect((await request(path, post(body, headers))).status).toBe(200);
    }
  });

  test.each([
    ["evaluation", { evaluation: limited }, true],
    ["evaluation", { evaluation: limited }, false],
    ["reply", { reply: limited }, true],
    ["reply", { reply: limited }, false],
  ] as const)("429 of the %s keeps retry-after", async (_, differences, stream) => {
    const { request } = await testRouter(differences);
    const response = await request(path, post(ask(["hi"], { stream })));
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "61"]);
    expect(await response.json()).toEqual(errorOf(name, "rate_limit_error"));
  });

  test.each<[number, Record<string, string>, boolean]>([
    [529, { "retry-after": "61" }, true],
    [529, { "retry-after": "61" }, false],
    [529, {}, true],
    [503, {}, false],
  ])("%i of the model keeps retry-after (row %$)", async (given, headers, stream) => {
    const services = servicesOver(testGateway({ reply: refuse(given, headers) }).fetch);
    const { tiers } = services.replies.current;
    for (const plan of Object.values(tiers)) Object.assign(plan, { maxRetries: 0 });
    const { request } = await testRouter({}, { services });
    const response = await request(path, post(ask(["hi"], { stream })));
    expect(response.status).toBe(name === "messages" ? 529 : 503);
    expect(response.headers.get("retry-after")).toBe(headers["retry-after"] ?? null);
    expect(response.headers.get("x-should-retry")).toBeNull();
    const message = expect.stringContaining("Slow down.");
    expect(await response.json()).toEqual(errorOf(name, typeIn(name, "overloaded_error"), message));
  });

  test.each([
    ["This model's maximum context length is 8 tokens.", "prompt is too long: "],
    ["The context window is full.", "prompt is too long: "],
    ["Prompt is too long: 9 tokens > 8 maximum", ""],
  ])("a conversation over the model's limit is known to clients: %s", async (words, start) => {
    const reply = () => Response.json({ error: { message: words } }, { status: 400 });
    const { request } = await testRouter({ reply });
    const response = await request(path, post(ask(["hi"], { stream: true })));
    expect(response.status).toBe(400);
    const own = name === "messages" ? { message: start + words } : { message: words, code };
    expect(await response.json()).toMatchObject({ error: own });
  });

  test.each([true, false])("a failed reply is 502 (stream: %s)", async (stream) => {
    const reply = () => Response.json({ error: { message: "Not for you." } }, { status: 403 });
    const { request } = await testRouter({ reply });
    const response = await request(path, post(ask(["hi"], { stream })));
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual(
      errorOf(name, "api_error", expect.stringContaining("Not for you.")),
    );
  });

  test.each([true, false])("a silent model is 504 (stream: %s)", async (stream) => {
    const { waiting } = parseRouterOptions({ ROUTER_REPLY_IDLE_TIMEOUT_MS: "1" });
    const records: MessageRecord[] = [];
    const observe = (record: MessageRecord) => void records.push(record);
    const reply = hangingUpstream().answer;
    const { request } = await testRouter({ reply }, { waiting, observe });
    const response = await request(path, post(ask(["hi"], { stream })));
    expect(response.status).toBe(504);
    expect(await response.json()).toEqual(errorOf(name, "api_error"));
    expect(records).toMatchObject([{ outcome: "reply-failed", failure: "idle-timeout" }]);
  });

  test("a reply that breaks off ends with an error", async () => {
    const { request } = await testRouter({ reply: () => replyStream(["half "], { isCut: true }) });
    const response = await request(path, post(ask(["hi"], { stream: true })));
    expect(response.status).toBe(200);
    const events = await readEvents(response);
    const message = "The reply broke off: The provider went away.";
    const failed = {
      chat: { event: undefined, data: errorOf("chat", "api_error", message) },
      responses: {
        event: "response.failed",
        data: {
          type: "response.failed",
          sequence_number: events.length - 1,
          response: expect.objectContaining({
            status: "failed",
            error: { code: "server_error", message },
          }),
        },
      },
      messages: { event: "error", data: errorOf("messages", "api_error", message) },
    };
    expect(events.at(-1)).toEqual(failed[name]);
    expect(JSON.stringify(events)).toContain("half ");
  });

  test("while too many calls are in flight it is 503", async () => {
    const { answer, reached } = hangingUpstream();
    const { request } = await testRouter({ reply: answer }, { maxCallsInFlight: 1 });
    const client = new AbortController();
    const first = request(path, { ...post(body), signal: client.signal });
    await reached;
    const response = await request(path, post(body));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.json()).toEqual(errorOf(name, typeIn(name, "overloaded_error")));
    const unread = new ReadableStream({ pull: () => expect.fail("read without a slot") }, none);
    expect((await request(path, chunked(unread))).status).toBe(503);
    client.abort();
    await first;
  });
});

const none = { highWaterMark: 0 };

/** A request whose body has no known length. */
function chunked(body: ReadableStream) {
  return { ...post({}), body, duplex: "half" } as const;
}

test.each([
  ["/chat/completions", "/v1/chat/completions", "chat"],
  ["/v1/v1/chat/completions", "/v1/chat/completions", "chat"],
  ["/responses", "/v1/responses", "responses"],
  ["/v1/v1/responses", "/v1/responses", "responses"],
  ["/messages", "/v1/messages", "messages"],
  ["/v1/v1/messages", "/v1/messages", "messages"],
  ["/v1/v1/messages/count_tokens", "/v1/messages/count_tokens", "messages"],
  ["/models", "/v1/models", "chat"],
  ["/v1/v1/models", "/v1/models", "chat"],
] as const)("%s is 404 with the address %s", async (path, right, form) => {
  const { request } = await testRouter();
  const init = right === "/v1/models" ? {} : post({});
  const response = await request(path, init);
  expect(response.status).toBe(404);
  const message = expect.stringContaining(` use ${right}: `);
  expect(await response.json()).toEqual(errorOf(form, typeIn(form, "not_found_error"), message));
});

test("an unknown path of the API lists the addresses", async () => {
  const { request } = await testRouter();
  const paths = ["GET /v1/models", "POST /v1/chat/completions", "/v1/responses", "/v1/messages"];
  for (const path of ["/v1/completions", "/v1/messages/batches", "/v1/responses/resp_1"]) {
    const response = await request(path, post({}));
    const text = await response.text();
    expect(response.status).toBe(404);
    expect(paths.filter((each) => !text.includes(each))).toEqual([]);
  }
});

test.each([
  ["chat", {}],
  ["messages", { "anthropic-version": "2023-06-01" }],
] as const)("/v1/models has the form of %s", async (form, headers: Record<string, string>) => {
  const { request } = await testRouter({}, { accessToken: token });
  const get = (path: string, key: string) =>
    request(path, { headers: { ...headers, "x-api-key": key } });
  const rejected = await get("/v1/models", "another");
  expect(rejected.status).toBe(401);
  expect(await rejected.json()).toEqual(errorOf(form, "authentication_error"));
  const missing = await get("/v1/models/no-such-model", token);
  expect(missing.status).toBe(404);
  expect(await missing.json()).toEqual(errorOf(form, typeIn(form, "not_found_error")));
  const { data } = (await (await get("/v1/models", token)).json()) as { data: { id: string }[] };
  const own = ["auto", "nano", "fast", "balanced", "frontier", "typesafe-ai/jev"];
  expect(data.map(({ id }) => id)).toEqual(own);
  const auto = await (await get("/v1/models/auto", token)).json();
  expect(auto).toEqual(data[0]);
  expect(auto).toHaveProperty(form === "messages" ? "display_name" : "owned_by");
});
