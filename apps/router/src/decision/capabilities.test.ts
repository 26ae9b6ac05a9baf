import type { CatalogModel } from "evaluator-client";
import { expect, test } from "vitest";
import { toConversation } from "../conversation/conversation.ts";
import { targetAt } from "../testing/reply-calls.ts";
import { gatewayUpstream } from "../testing/upstreams.ts";
import { connectUpstream } from "../reply/upstream.ts";
import { findCapabilities, createCapabilityCheck, toCapabilities } from "./capabilities.ts";

const gateway = gatewayUpstream({ apiKey: "k", baseUrl: "http://gateway.invalid" });
const target = targetAt(gateway, "a/b");
const listed = (raw: object, contextWindow: number | null = null) =>
  toCapabilities({ id: "a/b", contextWindow, raw } as CatalogModel);

test.each([
  ["an empty record", {}, {}],
  ["its sizes", { max_tokens: 64_000 }, { contextWindow: 200_000, maxOutputTokens: 64_000 }],
  ["no sizes", { max_tokens: 0 }, {}],
  [
    "tags",
    { tags: ["reasoning", "vision", "file-input"] },
    { images: true, files: true, tools: false },
  ],
  ["modalities", { modalities: { input: ["text"] } }, { images: false }],
  ["modalities with images", { modalities: { input: ["text", "image"] } }, { images: true }],
  [
    "efforts",
    {
      tags: ["tool-use"],
      reasoning_options: [{ type: "toggle" }, { type: "effort", values: ["low", "high"] }],
    },
    { images: false, files: false, tools: true, efforts: ["low", "high"] },
  ],
])("reads %s of the price list", (_, raw, capabilities) => {
  const window = "contextWindow" in capabilities ? 200_000 : null;
  expect(listed(raw, window)).toEqual(capabilities);
});

test("the configuration wins over the list, which is the gateways' alone", () => {
  const list = new Map([["a/b", { contextWindow: 1000, images: true }]]);
  const own = { ...target, capabilities: { images: false } };
  expect(findCapabilities(own, list)).toEqual({ contextWindow: 1000, images: false });
  const upstream = connectUpstream({ type: "openai-chat", name: "u", apiKey: null });
  expect(findCapabilities({ ...own, upstream }, list)).toEqual({ images: false });
});

test("a field that only services of one API take needs such a service", () => {
  const { isCapable } = createCapabilityCheck(new Map());
  const asked = {
    conversation: toConversation("hi"),
    passed: { unsupported: new Error("x") as never, upstreamType: "anthropic" },
  } as const;
  const upstream = connectUpstream({ type: "anthropic", name: "u", apiKey: null });
  expect(isCapable(target, asked)).toBe(false);
  expect(isCapable({ ...target, upstream }, asked)).toBe(true);
});

test("a setting that a translation loses needs a service that keeps it", () => {
  const { isCapable } = createCapabilityCheck(new Map());
  const json = { name: null, description: null, schema: null, strict: null };
  const [stops, objects] = [
    { ...toConversation("hi"), settings: { stopSequences: ["END"] } },
    { ...toConversation("hi"), format: json },
  ];
  const keeps = (type: Parameters<typeof connectUpstream>[0]["type"]) => {
    const upstream = connectUpstream({ type, name: "u", apiKey: null });
    return [stops, objects].map((conversation) =>
      isCapable({ ...target, upstream }, { conversation }),
    );
  };
  expect(keeps("openai-chat")).toEqual([true, true]);
  expect(keeps("openai-responses")).toEqual([false, true]);
  expect(keeps("anthropic")).toEqual([true, false]);
  const upstream = connectUpstream({ type: "anthropic", name: "u", apiKey: null });
  const passed = { unsupported: null, upstreamType: "anthropic" } as const;
  expect(isCapable({ ...target, upstream }, { conversation: objects, passed })).toBe(true);
});

test.each([
  ["what a reply without a limit needs", undefined, 1024],
  ["the client's limit", 5000, 5000],
  ["at most the model's most", 64_000, 8000],
])("the window has room for %s", (_, maxOutputTokens, room) => {
  const text = "word ".repeat(1000);
  const settings = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  const conversation = { ...toConversation(text), settings };
  const fits = (contextWindow: number) => {
    const list = new Map([["a/b", { contextWindow, maxOutputTokens: 8000 }]]);
    return createCapabilityCheck(list).isCapable(target, { conversation });
  };
  expect(fits(1500 + room)).toBe(true);
  expect(fits(900 + room)).toBe(false);
});

test("a window that a refusal showed is forgotten after an hour", () => {
  let now = 0;
  const { isCapable, learn } = createCapabilityCheck(new Map(), () => now);
  const asked = (words: number) => ({ conversation: toConversation("word ".repeat(words)) });
  learn(target, asked(5000).conversation);
  expect(isCapable(target, asked(5000))).toBe(false);
  expect(isCapable(target, asked(3000))).toBe(true);
  now = 3_600_000;
  expect(isCapable(target, asked(5000))).toBe(true);
});
