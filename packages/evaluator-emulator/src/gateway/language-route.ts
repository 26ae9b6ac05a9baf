import { z } from "zod";
import { basisHeader, echoModel, localProvider } from "../basis.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { type Call, readJson } from "../call.ts";
import { isJsonRecord } from "../json.ts";
import { admitCall, checkGatewayCall, readAttribution, settleCall } from "./gateway-call.ts";
import { invalidRequest } from "./gateway-error.ts";
import type { ReplyShape } from "./shaped-reply.ts";
import { composeReply, eventStream, replyParts, wholeReply } from "./text-reply.ts";

const toolSchema = z.object({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().default(""),
  inputSchema: z.unknown(),
});
const shapeSchema = z.object({
  tools: z.array(toolSchema.or(z.unknown())).default([]),
  toolChoice: z.looseObject({ type: z.string(), toolName: z.string().optional() }).optional(),
  responseFormat: z
    .object({ type: z.string(), schema: z.record(z.string(), z.unknown()).optional() })
    .optional(),
  providerOptions: z
    .object({ openai: z.object({ parallelToolCalls: z.boolean().optional() }).optional() })
    .optional(),
});

/** Reads what is asked for beside text (language model specification v4). */
function readShape(body: unknown): ReplyShape {
  const { data } = shapeSchema.safeParse(body);
  const { tools = [], toolChoice, responseFormat, providerOptions } = data ?? {};
  const kind = toolChoice?.type ?? "auto";
  return {
    tools: tools.flatMap((tool) => {
      const { data: read } = toolSchema.safeParse(tool);
      if (read === undefined) return []; // a tool of a provider's own
      return [{ name: read.name, description: read.description, schema: read.inputSchema }];
    }),
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

const endpoint = {
  specificationHeader: "ai-language-model-specification-version",
  modelHeader: "ai-language-model-id",
  modelType: "language",
} as const;

/**
 * Answers one text request, whole or streamed as `ai-language-model-streaming` asks (field fact).
 */
export async function languageRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const startTime = context.clock();
  const admitted = checkGatewayCall(call, endpoint, context);
  const isStreamed = readStreaming(call);
  const body = await readJson(call);
  const { nextId } = context;
  const prompt = isJsonRecord(body) ? body["prompt"] : null;
  const reply = composeReply({ prompt, shape: readShape(body), nextId });
  if (reply === null) throw invalidRequest("Invalid request: body.prompt: expected messages");
  admitCall(admitted, context);

  const { inputTokens, outputTokens } = reply;
  const answeredBy = { canonicalSlug: echoModel, provider: localProvider };
  const attribution = readAttribution(body);
  const answered = { ...answeredBy, inputTokens, outputTokens, isStreamed, startTime, attribution };
  const settled = settleCall(admitted, answered, context);
  const timestamp = new Date(startTime).toISOString();
  const metadata = { id: settled.generationId, modelId: echoModel, timestamp };
  const headers = basisHeader(reply.basis);
  return isStreamed
    ? eventStream(replyParts(reply, metadata, settled), headers)
    : Response.json(wholeReply(reply, metadata, settled), { headers });
}

function readStreaming({ req }: Call): boolean {
  const streaming = req.header("ai-language-model-streaming");
  if (streaming === "true" || streaming === "false") return streaming === "true";
  throw invalidRequest("The header ai-language-model-streaming must be true or false.");
}
