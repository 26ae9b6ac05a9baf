import { expect, test } from "vitest";
import { readEvents } from "./testing/read-answers.ts";
import { heldReply } from "./testing/reply-stream.ts";
import { startTestRouter } from "./testing/test-router.ts";

const json = { "content-type": "application/json" };

function post(origin: string, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: "POST", headers: { ...json, ...headers }, body: '{"message":"hi"}' };
  return fetch(`${origin}/chat`, init);
}

test("answers on the address it says", async () => {
  const { origin } = await startTestRouter();
  expect((await fetch(origin)).status).toBe(200);
});

test("closing lets an answer in flight finish, and takes no new connection", async () => {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<Response>();
  const reply = () => {
    reached.resolve();
    return release.promise;
  };
  const { origin, close } = await startTestRouter({ reply });
  const answer = post(origin);
  await reached.promise;
  const closed = close();
  await expect(fetch(origin)).rejects.toThrow("fetch failed");
  release.resolve(Response.json({ error: { message: "too late" } }, { status: 400 }));
  expect(await (await answer).json()).toMatchObject({ tier: "nano", replyError: "too late" });
  await closed;
});

test("closing lets a stream in flight finish, and says so", async () => {
  const upstream = heldReply();
  const warnings: string[] = [];
  const { origin, close } = await startTestRouter(
    { reply: upstream.answer },
    { warn: (line) => warnings.push(line) },
  );
  const response = await post(origin, { accept: "text/event-stream" });
  const closed = close();
  expect(warnings).toEqual([
    "Finishing 1 answer, for at most 60 s; a second Ctrl-C ends the router at once.\n",
  ]);
  upstream.send("at last");
  upstream.finish();
  const events = await readEvents(response);
  expect(events.at(-2)).toEqual({ event: "reply", data: { delta: "at last" } });
  expect(events.at(-1)).toMatchObject({ event: "done", data: { replyError: null } });
  await closed;
});
