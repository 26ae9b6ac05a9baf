import { expect, test } from "vitest";
import { collect } from "../../apps/router/src/testing/read-answers.ts";
import { replyStream } from "../../apps/router/src/testing/reply-stream.ts";
import { openAiClient } from "./openai-client.ts";

const greeting = [{ role: "user" as const, content: "hi" }];

test("another model of the chain replies where one fails before its first word", async () => {
  const asked: string[] = [];
  const reply = ({ headers }: Request) => {
    const model = headers.get("ai-language-model-id") ?? "";
    asked.push(model);
    if (model === "a/last") return replyStream(["from the last"]);
    const status = model === "a/second" ? 500 : 429;
    return Response.json({ error: { message: "no" } }, { status });
  };
  const env = { ROUTER_FALLBACK_MODELS: "a/second,a/last" };
  const { client } = await openAiClient({ reply }, env);
  const call = client.chat.completions.create({ model: "auto", messages: greeting, stream: true });
  const { data, response } = await call.withResponse();
  const text = (await collect(data)).map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  expect(text).toBe("from the last");
  expect(asked).toEqual(["openai/gpt-5-nano", "a/second", "a/last"]);
  expect(response.headers.get("x-router-model")).toBe("a/last");
  expect(response.headers.get("x-router-cause")).toBe("model-failed");
});

test("nothing is asked again once a word has come", async () => {
  const asked: string[] = [];
  const reply = ({ headers }: Request) => {
    asked.push(headers.get("ai-language-model-id") ?? "");
    return replyStream(["half "], { isCut: true });
  };
  const { client } = await openAiClient({ reply }, { ROUTER_FALLBACK_MODELS: "a/second" });
  const stream = await client.chat.completions.create({
    model: "auto",
    messages: greeting,
    stream: true,
  });
  await expect(collect(stream)).rejects.toThrow("The provider went away.");
  expect(asked).toEqual(["openai/gpt-5-nano"]);
});
