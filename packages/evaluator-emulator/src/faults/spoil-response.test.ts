import { expect, test } from "vitest";
import { malformJson } from "./spoil-response.ts";

test("a whole body lacks its last character", async () => {
  expect(await (await malformJson(new Response(`{"a":1}`))).text()).toBe(`{"a":1`);
});

test("every event of a stream lacks the end of its JSON", async () => {
  const headers = { "content-type": "text/event-stream" };
  const body = `data: {"a":1}\n\ndata: [DONE]\n\n`;
  const spoilt = await malformJson(new Response(body, { headers }));
  expect(await spoilt.text()).toBe(`data: {"a":1\n\ndata: [DONE]\n\n`);
});
