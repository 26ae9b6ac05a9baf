import { expect, test } from "vitest";
import { readEvents } from "../testing/read-answers.ts";
import { beginStream, deltaOf, eventOf } from "../testing/reply-stream.ts";
import { type ReplyScript, scriptedGateway } from "../testing/test-router.ts";

const json = { "content-type": "application/json" };
const conversation = { model: "auto", messages: [{ role: "user", content: "hi" }], stream: true };

function post(origin: string, path: string, body: object, accept = "application/json") {
  const headers = { ...json, accept };
  return fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Resets the connection once what was written is on its way. */
const cut: ReplyScript = (response) => {
  response.write(deltaOf("half a "), () => response.socket?.resetAndDestroy());
};

const brokenStreams: [what: string, rest: ReplyScript, says: RegExp][] = [
  [
    "a connection that is reset",
    cut,
    /^The reply broke off: the connection to the model's service ended /,
  ],
  [
    "a stream that ends too early",
    (response) => response.end(deltaOf("half a ")),
    /^The reply broke off: the connection to the model's service ended /,
  ],
  [
    "an event that is not JSON",
    (response) => response.end(`${deltaOf("half a ")}data: {"type":\n\n`),
    /^The reply broke off: the model's service sent an event that is not JSON\.$/,
  ],
  [
    "an error in the gateway's words",
    (response) =>
      response.end(deltaOf("half a ") + eventOf({ type: "error", error: { message: "Gone." } })),
    /^The reply broke off: Gone\.$/,
  ],
  [
    "an error without words",
    (response) => response.end(deltaOf("half a ") + eventOf({ type: "error", error: {} })),
    /^The reply broke off: its service gave no reason\.$/,
  ],
];

test.each(brokenStreams)("after %s, what came is kept and the end says why", async (...row) => {
  const [, rest, says] = row;
  const { origin, defects } = await scriptedGateway((response) => {
    beginStream(response);
    rest(response);
  });
  const events = await readEvents(
    await post(origin, "/chat", { message: "hi" }, "text/event-stream"),
  );
  expect(events.slice(1)).toEqual([
    { event: "reply", data: { delta: "half a " } },
    {
      event: "done",
      data: expect.objectContaining({
        tier: "nano",
        usage: null,
        replyError: expect.stringMatching(says),
      }),
    },
  ]);
  const chunks = await (await post(origin, "/v1/chat/completions", conversation)).text();
  expect(chunks).toContain('"content":"half a "');
  expect(chunks).toMatch(/data: \{"error":\{"message":"The reply broke off: /);
  expect(chunks).not.toContain("[DONE]");
  expect(defects).toEqual([]);
});

test("a whole reply whose connection is cut says so in the router's words", async () => {
  const { origin } = await scriptedGateway((response) => {
    response.writeHead(200, { ...json, "content-length": "1000" });
    response.write('{"content":');
    response.socket?.destroySoon();
  });
  expect(await (await post(origin, "/chat", { message: "hi" })).json()).toMatchObject({
    tier: "nano",
    reply: "",
    replyError: expect.stringMatching(
      /^The reply broke off: the connection to the model's service ended /,
    ),
  });
});

const tooLarge = "The reply was ended: it is over 16 MiB, the router's limit.";
const mebibyte = "a".repeat(1024 * 1024);

test.each([
  ["in many pieces", () => deltaOf(mebibyte)],
  ["as one piece that has no end", () => mebibyte],
])("a streamed reply over 16 MiB %s is ended, and so is the call", async (_what, piece) => {
  const closed = Promise.withResolvers<void>();
  const { origin, defects } = await scriptedGateway((response) => {
    response.once("close", closed.resolve);
    beginStream(response);
    if (!piece().startsWith("data"))
      response.write('data: {"type":"text-delta","id":"0","delta":"');
    const send = () => void (response.writable && response.write(piece(), send));
    send();
  });
  const events = await readEvents(
    await post(origin, "/chat", { message: "hi" }, "text/event-stream"),
  );
  const text = events.flatMap(({ event, data }) =>
    event === "reply" ? [(data as { delta: string }).delta] : [],
  );
  expect(text.join("").length).toBeLessThanOrEqual(16 * mebibyte.length);
  expect(events.at(-1)).toMatchObject({ event: "done", data: { replyError: tooLarge } });
  await closed.promise;
  expect(defects).toEqual([]);
});

test("a whole reply over 16 MiB is ended as well", async () => {
  const closed = Promise.withResolvers<void>();
  const { origin } = await scriptedGateway((response) => {
    response.once("close", closed.resolve);
    response.writeHead(200, json).write('{"content":[{"type":"text","text":"');
    const send = () => void (response.writable && response.write(mebibyte, send));
    send();
  });
  const answer = await post(origin, "/chat", { message: "hi" });
  expect(await answer.json()).toMatchObject({ tier: "nano", reply: "", replyError: tooLarge });
  await closed.promise;
});

test.each([true, false])(
  "a reply model's 429 stays one, and says when to come back (stream: %s)",
  async (stream) => {
    const { origin } = await scriptedGateway((response) => {
      response.writeHead(429, { ...json, "retry-after-ms": "0", "retry-after": "7" });
      response.end('{"error":{"message":"slow down","type":"rate_limit_exceeded"}}');
    });
    const answer = await post(origin, "/v1/chat/completions", { ...conversation, stream });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("0");
    expect(answer.headers.get("x-should-retry")).toBeNull();
    expect(await answer.json()).toMatchObject({
      error: { type: "rate_limit_error", message: expect.stringContaining("slow down") },
    });
  },
);

test("a path that the API does not have names those it has", async () => {
  const { origin } = await scriptedGateway((response) => response.end());
  const answer = await fetch(`${origin}/v1/embeddings`, { method: "POST" });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({
    error: { message: expect.stringContaining("GET /v1/models, POST /v1/chat/completions") },
  });
});
