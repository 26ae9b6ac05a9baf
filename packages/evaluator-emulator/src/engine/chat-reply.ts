import * as z from "zod/mini";
import { basisHeader, echoModel } from "../answers/judgement.ts";
import {
  argumentPieces,
  composeReply,
  eventStream,
  type PlayedCall,
  type ReplyShape,
  listWords,
} from "../gateway/text-reply.ts";

const usageSchema = z.object({ stream_options: z.object({ include_usage: z.literal(true) }) });
const jsonSchema = z.record(z.string(), z.unknown());
const shapeSchema = z.object({
  tools: z.nullish(
    z.array(
      z.object({
        type: z.literal("function"),
        function: z.object({
          name: z.string(),
          description: z.nullish(z.string()),
          parameters: z.unknown(),
        }),
      }),
    ),
  ),
  tool_choice: z.nullish(
    z.union([
      z.enum(["none", "auto", "required"]),
      z.object({ function: z.object({ name: z.string() }) }),
    ]),
  ),
  parallel_tool_calls: z.nullish(z.boolean()),
  response_format: z.nullish(
    z.object({
      type: z.string(),
      schema: z.nullish(jsonSchema), // beside json_object, as llama.cpp takes it
      json_schema: z.nullish(z.object({ schema: z.nullish(jsonSchema) })),
    }),
  ),
});

/** Reads the wanted tools and JSON, in OpenAI's form. */
function readShape(requestBody: unknown): ReplyShape {
  const { tools, tool_choice, parallel_tool_calls, response_format } =
    shapeSchema.safeParse(requestBody).data ?? {};
  const isJson = ["json_object", "json_schema"].includes(response_format?.type ?? "");
  return {
    tools: (tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? "",
      schema: parameters,
    })),
    toolChoice:
      typeof tool_choice === "object" && tool_choice !== null
        ? { name: tool_choice.function.name }
        : (tool_choice ?? "auto"),
    isParallel: parallel_tool_calls !== false,
    json: isJson ? (response_format?.json_schema?.schema ?? response_format?.schema ?? {}) : null,
  };
}

/** Returns a chat server's reply, whole or as events; null if the body is no conversation. */
export function chatReply(
  requestBody: Record<string, unknown>,
  nextId: () => string,
): Response | null {
  const playedReply = composeReply(requestBody["messages"], readShape(requestBody), nextId);
  if (playedReply === null) return null;
  const { text, calls, basis, inputTokens, outputTokens } = playedReply;
  const completionId = `chatcmpl-${nextId()}`;
  const finishReason = calls.length > 0 ? "tool_calls" : "stop";
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  const headers = basisHeader(basis);
  const commonFields = { id: completionId, created: 0, model: echoModel };
  if (requestBody["stream"] !== true) {
    const calledParts = { content: null, tool_calls: calls.map(toToolCall) };
    const message = {
      role: "assistant",
      ...(calls.length > 0 ? calledParts : { content: text }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
    return Response.json(
      { ...commonFields, object: "chat.completion", choices, usage },
      { headers },
    );
  }
  const toChunk = (delta: object, finish_reason: string | null) => ({
    ...commonFields,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const usageChunk = { ...commonFields, object: "chat.completion.chunk", choices: [], usage };
  const chunks = [
    toChunk({ role: "assistant", content: "" }, null),
    ...listWords(playedReply).map((contentText) => toChunk({ content: contentText }, null)),
    ...calls.flatMap(callDeltas).map((delta) => toChunk(delta, null)),
    toChunk({}, finishReason),
    ...(usageSchema.safeParse(requestBody).success ? [usageChunk] : []),
  ];
  return eventStream(chunks, headers);
}

function toToolCall({ id, name, input }: PlayedCall) {
  return { id, type: "function", function: { name, arguments: input } };
}

function callDeltas(call: PlayedCall, index: number): readonly object[] {
  const { id, name } = call;
  const firstDelta = { index, id, type: "function", function: { name, arguments: "" } };
  const argumentDeltas = argumentPieces(call).map((argumentPiece) => ({
    index,
    function: { arguments: argumentPiece },
  }));
  return [firstDelta, ...argumentDeltas].map((callDelta) => ({ tool_calls: [callDelta] }));
}
