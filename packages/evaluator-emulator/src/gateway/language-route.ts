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
function readShape(body: unknown): ReplyShape {
  const {
    tools = [],
    toolChoice,
    responseFormat,
    providerOptions,
  } = shapeSchema.safeParse(body).data ?? {};
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
export async function languageRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const admittedCall = checkGatewayCall(call, "language-model", context);
  const streaming = call.header("ai-language-model-streaming");
  if (streaming !== "true" && streaming !== "false") {
    throw new RequestError("The header ai-language-model-streaming must be true or false.");
  }
  const isStreamed = streaming === "true";
  const body = await readJson(call);
  const prompt = isJsonRecord(body) ? body["prompt"] : null;
  const reply = composeReply(prompt, readShape(body), context.nextId);
  if (reply === null) throw new RequestError("Invalid request: body.prompt: expected messages");
  admitCall(admittedCall, context);

  const answeredParts = { standIn: echoModel, usage: reply, isStreamed, body };
  const settledCall = settleCall(admittedCall, answeredParts, context);
  const timestamp = new Date(admittedCall.startTime).toISOString();
  const metadata = { id: settledCall.generationId, modelId: echoModel, timestamp };
  const headers = basisHeader(reply.basis);
  return isStreamed
    ? eventStream(replyParts(reply, metadata, settledCall), headers)
    : Response.json(wholeReply(reply, metadata, settledCall), { headers });
}

/** Returns the body of a whole reply (language model specification v4). */
function wholeReply(reply: Reply, response: object, gatewayMetadata: object) {
  const calls = reply.calls.map(toToolCall);
  return {
    content: calls.length > 0 ? calls : [{ type: "text", text: reply.text }],
    ...replyEnd(reply, gatewayMetadata),
    response,
    warnings: [],
  };
}

function toToolCall({ id: toolCallId, name: toolName, input }: PlayedCall) {
  return { type: "tool-call", toolCallId, toolName, input };
}

/** Returns the stream parts of a reply, word by word (language model specification v4). */
function replyParts(reply: Reply, metadata: object, gatewayMetadata: object) {
  const id = "0";
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", ...metadata },
    ...(reply.calls.length > 0 ? reply.calls.flatMap(callParts) : textParts(reply, id)),
    { type: "finish", ...replyEnd(reply, gatewayMetadata) },
  ];
}

function textParts(reply: Reply, id: string): readonly object[] {
  return [
    { type: "text-start", id },
    ...listWords(reply).map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
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

function replyEnd(reply: Reply, gatewayMetadata: object) {
  const { calls, inputTokens, outputTokens } = reply;
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
