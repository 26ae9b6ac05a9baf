import * as z from "zod/mini";
import { basisHeader, echoModel } from "../answers/judgement.ts";
import { type Call, type EmulatorContext, readJson } from "../call.ts";
import { isJsonRecord, mapped } from "../json.ts";
import { admitCall, checkGatewayCall, settleCall } from "./gateway-call.ts";
import { RequestError } from "../request-error.ts";
import {
  argumentPieces,
  composeReply,
  eventStream,
  type PlayedCall,
  type ReplyShape,
  listWords,
} from "./text-reply.ts";

const toolSchema = mapped(
  z.object({
    type: z.literal("function"),
    name: z.string(),
    description: z.prefault(z.string(), ""),
    inputSchema: z.unknown(),
  }),
  ({ name, description, inputSchema: schema }) => ({ name, description, schema }),
);
const otherTool = mapped(z.unknown(), () => null);
const shapeSchema = z.object({
  // The other tools are run by the provider.
  tools: z.prefault(z.array(z.union([toolSchema, otherTool])), []),
  toolChoice: z.optional(z.looseObject({ type: z.string(), toolName: z.optional(z.string()) })),
  responseFormat: z.optional(
    z.object({ type: z.string(), schema: z.optional(z.record(z.string(), z.unknown())) }),
  ),
  providerOptions: z.optional(
    z.object({
      openai: z.optional(z.object({ parallelToolCalls: z.optional(z.boolean()) })),
    }),
  ),
});

/** Reads the wanted tools and JSON (language model specification v4). */
function readShape(requestBody: unknown): ReplyShape {
  const {
    tools = [],
    toolChoice,
    responseFormat,
    providerOptions,
  } = shapeSchema.safeParse(requestBody).data ?? {};
  const kind = toolChoice?.type ?? "auto";
  return {
    tools: tools.filter((tool) => tool !== null),
    toolChoice:
      kind === "tool"
        ? { name: toolChoice?.toolName ?? "" }
        : kind === "none" || kind === "required"
          ? kind
          : "auto",
    isParallel: providerOptions?.openai?.parallelToolCalls !== false,
    json: responseFormat?.type === "json" ? (responseFormat.schema ?? {}) : null,
  };
}

type Reply = NonNullable<ReturnType<typeof composeReply>>;

/** Answers one text request, streamed if `ai-language-model-streaming` is `true` (field fact). */
export async function languageRoute(
  emulatedCall: Call,
  emulatorContext: EmulatorContext,
): Promise<Response> {
  const admittedCall = checkGatewayCall(emulatedCall, "language-model", emulatorContext);
  const streaming = emulatedCall.header("ai-language-model-streaming");
  if (streaming !== "true" && streaming !== "false") {
    throw new RequestError("The header ai-language-model-streaming must be true or false.");
  }
  const isStreamed = streaming === "true";
  const requestBody = await readJson(emulatedCall);
  const prompt = isJsonRecord(requestBody) ? requestBody["prompt"] : null;
  const playedReply = composeReply(prompt, readShape(requestBody), emulatorContext.nextId);
  if (playedReply === null)
    throw new RequestError("Invalid request: body.prompt: expected messages");
  admitCall(admittedCall, emulatorContext);

  const answeredParts = { standIn: echoModel, usage: playedReply, isStreamed, body: requestBody };
  const settledCall = settleCall(admittedCall, answeredParts, emulatorContext);
  const timestamp = new Date(admittedCall.startTime).toISOString();
  const metadata = { id: settledCall.generationId, modelId: echoModel, timestamp };
  const headers = basisHeader(playedReply.basis);
  return isStreamed
    ? eventStream(replyParts(playedReply, metadata, settledCall), headers)
    : Response.json(wholeReply(playedReply, metadata, settledCall), { headers });
}

/** Returns the body of a whole reply (language model specification v4). */
function wholeReply(playedReply: Reply, response: object, gatewayMetadata: object) {
  const calls = playedReply.calls.map(toToolCall);
  return {
    content: calls.length > 0 ? calls : [{ type: "text", text: playedReply.text }],
    ...replyEnd(playedReply, gatewayMetadata),
    response,
    warnings: [],
  };
}

function toToolCall({ id: toolCallId, name: toolName, input }: PlayedCall) {
  return { type: "tool-call", toolCallId, toolName, input };
}

/** Returns the stream parts of a reply, word by word (language model specification v4). */
function replyParts(playedReply: Reply, metadata: object, gatewayMetadata: object) {
  const partId = "0";
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", ...metadata },
    ...(playedReply.calls.length > 0
      ? playedReply.calls.flatMap(callParts)
      : textParts(playedReply, partId)),
    { type: "finish", ...replyEnd(playedReply, gatewayMetadata) },
  ];
}

function textParts(playedReply: Reply, partId: string): readonly object[] {
  return [
    { type: "text-start", id: partId },
    ...listWords(playedReply).map((delta) => ({ type: "text-delta", id: partId, delta })),
    { type: "text-end", id: partId },
  ];
}

function callParts(call: PlayedCall): readonly object[] {
  const { id, name: toolName } = call;
  return [
    { type: "tool-input-start", id, toolName },
    ...argumentPieces(call).map((delta) => ({ type: "tool-input-delta", id, delta })),
    { type: "tool-input-end", id },
    toToolCall(call),
  ];
}

function replyEnd(playedReply: Reply, gatewayMetadata: object) {
  const { calls, inputTokens, outputTokens } = playedReply;
  const isCalling = calls.length > 0;
  return {
    finishReason: isCalling
      ? { unified: "tool-calls", raw: "tool_calls" }
      : { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
    },
    providerMetadata: { gateway: gatewayMetadata },
  };
}
