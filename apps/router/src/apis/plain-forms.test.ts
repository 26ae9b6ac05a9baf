import { expect, test } from "vitest";
import { readChatRequest } from "./chat/chat-request.ts";
import { readMessagesRequest } from "./messages/messages-request.ts";

test("an image may be its address alone", () => {
  const content = [{ type: "image_url", image_url: "https://example.com/a.jpg" }];
  const { conversation } = readChatRequest({
    model: "nano",
    messages: [{ role: "user", content }],
  });
  const parts = [{ type: "image", url: "https://example.com/a.jpg" }];
  expect(conversation.messages).toEqual([{ role: "user", parts }]);
});

test.each([
  ["5m", "5m"],
  ["1h", "1h"],
  ["30m", "1h"],
])("a cache's lifetime of %s is asked of Anthropic's models as %s", (ttl, asked) => {
  const content = [{ type: "text", text: "hi", cache_control: { type: "ephemeral", ttl } }];
  const messages = [{ role: "user", content }];
  const { conversation } = readMessagesRequest({ model: "nano", max_tokens: 1, messages });
  const cacheControl = { type: "ephemeral", ttl: asked };
  expect(conversation.messages[0]?.parts[0]?.providerOptions).toEqual({
    anthropic: { cacheControl },
  });
});
