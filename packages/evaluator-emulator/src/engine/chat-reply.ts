import { basisHeader, echoModel } from "../basis.ts";
import { composeReply, eventStream, wordsOf } from "../gateway/text-reply.ts";

/** Returns the reply of a chat server to a conversation, whole or as events; null for no conversation. */
export function chatReply(body: Record<string, unknown>, id: string): Response | null {
  const reply = composeReply({ prompt: body["messages"] });
  if (reply === null) return null;
  const { text, inputTokens, outputTokens } = reply;
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  const headers = basisHeader("none");
  const head = { id, created: 0, model: echoModel };
  if (body["stream"] !== true) {
    const message = { role: "assistant", content: text };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
    return Response.json({ ...head, object: "chat.completion", choices, usage }, { headers });
  }
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const last = { ...head, object: "chat.completion.chunk", choices: [], usage };
  const chunks = [
    chunk({ role: "assistant", content: "" }, null),
    ...wordsOf(reply).map((content) => chunk({ content }, null)),
    chunk({}, "stop"),
    ...(wantsUsage(body) ? [last] : []),
  ];
  return eventStream(chunks, headers);
}

/** Servers tell a stream's tokens to whoever asks for them. */
function wantsUsage({ stream_options: options }: Record<string, unknown>): boolean {
  return typeof options === "object" && options !== null && "include_usage" in options
    ? options.include_usage === true
    : false;
}
