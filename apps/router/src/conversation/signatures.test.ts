import { expect, test } from "vitest";
import type { Conversation, Part } from "./conversation.ts";
import { createSignatureMemory, type SignedPart } from "./signatures.ts";

const google = { google: { thoughtSignature: "thought" } };
const anthropic = { anthropic: { signature: "sig" } };

function signedCall(id: string, text = '{"at":1}'): SignedPart {
  return { type: "toolCall", id, text, signature: { value: "thought", metadata: google } };
}

const signedReasoning: SignedPart = {
  type: "reasoning",
  id: "",
  text: "hm",
  signature: { value: "sig", metadata: anthropic },
};

function call(id: string, given = '{"at":1}'): Part {
  return { type: "toolCall", id, name: "look", arguments: given, signature: null };
}

const reasoning: Part = { type: "reasoning", text: "hm", signature: null };

function withParts(...parts: Part[]): Conversation {
  const messages = [{ role: "assistant" as const, parts }];
  return { messages, tools: [], toolChoice: null, format: null, settings: {}, providerOptions: {} };
}

test("a call gets its signature back, also if its arguments were written again", () => {
  const { keep, restore } = createSignatureMemory();
  keep(signedCall("a", '{ "at": 1, "name": "\\u00e9" }'), "a/b");
  const part = call("a", '{"at":1,"name":"é"}');
  expect(restore(withParts(part), "a/b")).toEqual(
    withParts({ ...part, signature: "thought", providerOptions: google } as Part),
  );
});

test("a call with the id of another reply's gets none", () => {
  const { keep, restore } = createSignatureMemory();
  keep(signedCall("a"), "a/b");
  const conversation = withParts(call("a", '{"at":2}'));
  expect(restore(conversation, "a/b")).toEqual(conversation);
});

const found: [by: string, part: Part][] = [
  ["text", reasoning],
  ["signature", { ...reasoning, text: "", signature: "sig" }],
];

test.each(found)("reasoning is found by its %s", (_by, part) => {
  const { keep, restore } = createSignatureMemory();
  keep(signedReasoning, "a/b");
  const restored = { ...part, signature: "sig", providerOptions: anthropic } as Part;
  expect(restore(withParts(part), "a/b")).toEqual(withParts(restored));
});

test("the provider's values replace those that an API made up", () => {
  const { keep, restore } = createSignatureMemory();
  keep(signedReasoning, "a/b");
  const cacheControl = { type: "ephemeral" };
  const anthropic = { cacheControl, signature: "made up" };
  const providerOptions = { anthropic, gateway: { a: 1 } };
  const [message] = restore(withParts({ ...reasoning, providerOptions }), "a/b").messages;
  expect(message?.parts[0]?.providerOptions).toEqual({
    anthropic: { signature: "sig", cacheControl },
    gateway: { a: 1 },
  });
});

test("reasoning of another model is dropped, its calls stay unsigned", () => {
  const { keep, restore } = createSignatureMemory();
  keep(signedReasoning, "a/b");
  keep(signedCall("a"), "a/b");
  expect(restore(withParts(reasoning, call("a")), "c/d")).toEqual(withParts(call("a")));
});

test("reasoning that the memory does not know keeps what its client sent", () => {
  const { keep, restore } = createSignatureMemory();
  keep(signedCall("a"), "a/b");
  const conversation = withParts({ ...reasoning, text: "other", signature: "other" });
  expect(restore(conversation, "c/d")).toEqual(conversation);
});

test("a signature is kept for an hour", () => {
  let nowMs = 0;
  const { keep, restore } = createSignatureMemory({ now: () => nowMs });
  keep(signedCall("a"), "a/b");
  const signatureOf = () => {
    const [message] = restore(withParts(call("a")), "a/b").messages;
    return message?.parts[0]?.providerOptions;
  };
  nowMs = 3_600_000;
  expect(signatureOf()).toEqual(google);
  nowMs += 1;
  expect(signatureOf()).toBeUndefined();
});

test("of more than 10,000 signatures the oldest are forgotten", () => {
  const { keep, restore } = createSignatureMemory();
  for (let id = 0; id < 10_000; id += 1) keep(signedCall(String(id)), "a/b");
  keep(signedCall("0"), "a/b"); // again, so it is the newest
  keep(signedCall("new"), "a/b");
  const ids = ["0", "1", "2", "new"];
  const [message] = restore(withParts(...ids.map((id) => call(id))), "a/b").messages;
  const isSigned = message?.parts.map((part) => part.providerOptions !== undefined);
  expect(isSigned).toEqual([true, false, true, true]);
});
