import { basisHeader } from "../basis-header.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { echoModel, localProvider } from "../local-model.ts";
import type { Call } from "../server/call.ts";
import { readJson } from "../server/read-json.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { composeReply } from "../text/compose-reply.ts";
import { eventStream } from "../text/event-stream.ts";
import { replyParts, wholeReply } from "../text/reply-forms.ts";
import { admitCall } from "./admit-call.ts";
import { checkGatewayCall } from "./check-gateway-call.ts";
import { invalidRequest } from "./gateway-error.ts";
import { settleCall } from "./settle-call.ts";

const endpoint = {
  specificationHeader: "ai-language-model-specification-version",
  modelHeader: "ai-language-model-id",
  modelType: "language",
} as const;

/** Answers one text request, whole or streamed as `ai-language-model-streaming` asks (field fact). */
export async function languageRoute(call: Call, context: EmulatorContext): Promise<Reply> {
  const startTime = context.clock();
  const admitted = checkGatewayCall(call, endpoint, context);
  const isStreamed = readStreaming(call);
  const reply = composeReply(await readJson(call));
  if (reply === null) throw invalidRequest("Invalid request: body.prompt: expected messages");
  admitCall(admitted, context);

  const { inputTokens, outputTokens } = reply;
  const answeredBy = { canonicalSlug: echoModel, provider: localProvider };
  const answered = { ...answeredBy, inputTokens, outputTokens, isStreamed, startTime };
  const settled = settleCall(admitted, answered, context);
  const timestamp = new Date(startTime).toISOString();
  const metadata = { id: settled.generationId, modelId: echoModel, timestamp };
  const headers = basisHeader("none");
  return isStreamed
    ? eventStream(replyParts(reply, metadata, settled), headers)
    : jsonReply(wholeReply(reply, metadata, settled), { headers });
}

function readStreaming({ header }: Call): boolean {
  const streaming = header("ai-language-model-streaming");
  if (streaming === "true" || streaming === "false") return streaming === "true";
  throw invalidRequest("The header ai-language-model-streaming must be true or false.");
}
