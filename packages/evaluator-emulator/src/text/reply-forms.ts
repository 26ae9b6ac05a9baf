import type { Reply } from "./compose-reply.ts";

/** Who replied, and when. */
export interface ReplyMetadata {
  readonly id: string;
  readonly modelId: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** The body of a whole reply (language model specification v4). */
export function wholeReply(reply: Reply, response: ReplyMetadata, gatewayMetadata: object) {
  return {
    content: [{ type: "text", text: reply.text }],
    ...replyEnd(reply, gatewayMetadata),
    response,
    warnings: reply.warnings,
  };
}

/** The stream parts of a reply, word by word (language model specification v4). */
export function replyParts(reply: Reply, metadata: ReplyMetadata, gatewayMetadata: object) {
  const id = "0";
  const words = reply.text.match(/\S+\s*/gu) ?? [];
  return [
    { type: "stream-start", warnings: reply.warnings },
    { type: "response-metadata", ...metadata },
    { type: "text-start", id },
    ...words.map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
    { type: "finish", ...replyEnd(reply, gatewayMetadata) },
  ];
}

function replyEnd({ inputTokens, outputTokens }: Reply, gatewayMetadata: object) {
  return {
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
    },
    providerMetadata: { gateway: gatewayMetadata },
  };
}
