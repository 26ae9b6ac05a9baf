import { expect, test } from "vitest";
import { outcomeFields, readEvents } from "../testing/read-answers.ts";
import { heldReply, replyStream } from "../testing/reply-stream.ts";
import { defaultPolicy, testRouter } from "../testing/test-router.ts";

const headers = { "content-type": "application/json", accept: "text/event-stream" };

test("sends the decision, the reply in pieces, and all fields but its text", async () => {
  const { chat } = await testRouter({ reply: () => replyStream(["Hel", "lo!"]) });
  const response = await chat({ message: "hi" }, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("x-router-cause")).toBe("choice");
  const events = await readEvents(response);
  expect(events.map(({ event }) => event)).toEqual(["decision", "reply", "reply", "done"]);
  expect(events[0]?.data).toMatchObject({
    tierChosen: "nano",
    tierUsed: "nano",
    cause: "choice",
    model: "openai/gpt-5-nano",
    probabilities: { nano: 0.97 },
    confidence: 0.96,
  });
  expect(events.slice(1, 3).map(({ data }) => data)).toEqual([{ delta: "Hel" }, { delta: "lo!" }]);
  expect(Object.keys(events[3]?.data as object)).toEqual(outcomeFields);
  expect(events[3]?.data).toMatchObject({ tier: "nano", replyError: null });
});

test("the decision is sent while the reply is still to come", async () => {
  const upstream = heldReply();
  const { chat } = await testRouter({ reply: upstream.answer });
  const response = await chat({ message: "hi" }, { headers });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toMatch(/^event: decision\n/);
  upstream.send("Hello!");
  expect((await reader?.read())?.value).toBe('event: reply\ndata: {"delta":"Hello!"}\n\n');
  upstream.finish();
  expect((await reader?.read())?.value).toMatch(/^event: done\n/);
});

test.each([undefined, "*/*", "application/json", "application/json, text/event-stream;q=0.5"])(
  "Accept: %s gets plain JSON",
  async (accept) => {
    const { chat } = await testRouter();
    const own = { "content-type": "application/json", ...(accept !== undefined && { accept }) };
    const response = await chat({ message: "hi" }, { headers: own });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-router-reply-ms")).toMatch(/^\d+$/);
  },
);

test("a reply that fails before or after its first words is in done", async () => {
  const forbidden = { message: "Not for you.", type: "forbidden" };
  for (const reply of [
    () => Response.json({ error: forbidden }, { status: 403 }),
    () => replyStream(["half a "], { isCut: true }),
  ]) {
    const { chat } = await testRouter({ reply });
    const events = await readEvents(await chat({ message: "hi" }, { headers }));
    expect(events.at(-1)).toMatchObject({
      event: "done",
      data: { tier: "nano", replyError: expect.stringMatching(/\S/), usage: null },
    });
  }
});

test("a failed evaluation is a status and JSON, as nothing was sent yet", async () => {
  const error = { message: "slow down", type: "rate_limit_exceeded" };
  const { chat } = await testRouter({
    evaluation: () => Response.json({ error }, { status: 429 }),
  });
  const response = await chat({ message: "hi" }, { headers });
  expect(response.status).toBe(429);
  expect(await response.json()).toEqual({ error: expect.any(String) });
});

test("when the fallback takes over, the new decision is sent before its words", async () => {
  const policy = { ...defaultPolicy, fallbackModels: ["a/fallback"] };
  let calls = 0;
  const reply = () =>
    ++calls === 1
      ? Response.json({ error: { message: "no" } }, { status: 404 })
      : replyStream(["x"]);
  const { chat } = await testRouter({ reply }, { policy });
  const events = await readEvents(await chat({ message: "hi" }, { headers }));
  expect(events.map(({ event }) => event)).toEqual(["decision", "decision", "reply", "done"]);
  expect(events[1]?.data).toMatchObject({ model: "a/fallback", cause: "model-refused" });
  expect(events[3]?.data).toMatchObject({ tier: "nano", model: "a/fallback", replyError: null });
});
