import { createGateway } from "ai";
import { expect, test } from "vitest";
import { toCallOptions } from "../conversation/to-call-options.ts";
import { callFor, hello, targetAt } from "../testing/reply-calls.ts";
import { gatewayUpstream, startUpstream } from "../testing/upstreams.ts";
import { connectUpstream } from "./upstream.ts";

const forms = [
  ["openai-chat", "/v1", 'data: {"choices":[{"finish_reason":"stop"}]}\n\n'],
  ["openai-responses", "/v1", 'data: {"type":"response.completed"}\n\n'],
  ["anthropic", "", 'data: {"type":"message_stop"}\n\n'],
] as const;

const refusal = '{"type":"error","error":{"type":"a","message":"no such field"}}';

test.each(forms)(
  "%s gets the same request again, with the ids of its call, and its refusal is read",
  async (upstreamType, base, end) => {
    const seen: string[][] = [];
    const origin = await startUpstream((request, response) => {
      seen.push(request.rawHeaders);
      request.resume().on("end", () => {
        if (seen.length < 4) return response.end(end);
        return response.writeHead(422).end(refusal);
      });
    });
    const options = { name: "a", baseUrl: origin + base, apiKey: "k" };
    const upstream = connectUpstream({ type: upstreamType, ...options });
    const body = { stream: true, stream_options: { include_usage: true } };
    const passed = { upstreamType, unsupported: null, json: JSON.stringify(body), body };
    const ask = async (headers: Record<string, string>) => {
      const { reply } = callFor([targetAt(upstream, "own-model")], { passed, headers });
      return (await reply).replyError;
    };
    expect(await ask({ "x-request-id": "1", traceparent: "t1" })).toBeNull();
    expect(await ask({ "x-request-id": "2", traceparent: "t2" })).toBeNull();
    expect(await ask({ "x-request-id": "3" })).toBeNull();
    expect(await ask({ "x-request-id": "4" })).toContain("no such field");
    const [first = [], second, third, fourth] = seen;
    const next = new Map([
      ["1", "2"],
      ["t1", "t2"],
    ]);
    expect(second).toEqual(first.map((word) => next.get(word) ?? word));
    const alone = first.toSpliced(first.indexOf("traceparent"), 2);
    expect(third).toEqual(alone.map((word) => (word === "1" ? "3" : word)));
    expect(fourth).toEqual(alone.map((word) => (word === "1" ? "4" : word)));
  },
);

test("the gateway gets each request as its provider writes it", async () => {
  const seen: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    seen.push({ url, headers: init?.headers, body: init?.body });
    return new Response('data: {"type":"finish","finishReason":{"unified":"stop"}}\n\n');
  };
  const image = { type: "image", url: "data:image/png;base64,AAAA" } as const;
  const conversation = { ...hello, messages: [{ role: "user", parts: [image] }] } as const;
  const service = { apiKey: "k", fetch };
  const upstream = gatewayUpstream({ ...service, baseUrl: "http://gateway.invalid" });
  const provider = createGateway({ ...service, baseURL: "http://gateway.invalid" });
  for (const id of ["1", "2"]) {
    const headers = { "x-request-id": id };
    const { reply } = callFor([targetAt(upstream)], { conversation, headers });
    expect((await reply).replyError).toBeNull();
    await provider("a/b").doStream({ ...toCallOptions(conversation, "gateway"), headers });
  }
  const [first, ofProvider, next, ofProviderNext] = seen;
  expect(first).toEqual(ofProvider);
  expect(next).toEqual(ofProviderNext);
});

test("a call of a reply that failed is ended", async () => {
  const closed = Promise.withResolvers<void>();
  const origin = await startUpstream((_, response) => {
    response.once("close", closed.resolve).write('data: {"error":{"message":"no luck"}}\n\n');
  });
  const upstream = connectUpstream({
    type: "openai-chat",
    name: "a",
    baseUrl: origin,
    apiKey: "k",
  });
  expect((await callFor([targetAt(upstream)]).reply).replyError).toContain("no luck");
  await closed.promise;
});

test("a usage in an event is read where its provider has none", async () => {
  const origin = await startUpstream((_, response) => {
    const usage = { prompt_tokens: 2, completion_tokens: 1 };
    const choices = [{ index: 0, delta: { content: "hi" }, finish_reason: "stop", usage }];
    response.end(`data: ${JSON.stringify({ choices }).replaceAll('":', '" : ')}\n\n`);
  });
  const service = { name: "a", baseUrl: origin, apiKey: "k" };
  const upstream = connectUpstream({ type: "openai-chat", ...service });
  const { billedTokens } = await callFor([targetAt(upstream)]).reply;
  expect(billedTokens).toMatchObject({ usage: { input: 2, output: 1 }, isEstimate: false });
});
