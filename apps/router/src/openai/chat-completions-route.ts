import type { Context, Handler } from "hono";
import type { Answer, MessageRouter } from "../chat/message-router.ts";
import { decisionHeaders } from "../decision/decision-headers.ts";
import { callOf, type ClientEnv } from "../routes/client-env.ts";
import { readJson } from "../routes/read-json.ts";
import { sendEvents } from "../routes/send-events.ts";
import { parseChatCompletionRequest } from "./chat-completion-request.ts";
import { chooseTier } from "./choose-tier.ts";
import {
  chunkOf,
  type CompletionHead,
  finishOf,
  usageChunk,
  wholeCompletion,
} from "./completion-forms.ts";
import { openAiError } from "./openai-error.ts";
import { type OpenedReply, openReply } from "./open-reply.ts";
import { toModelMessages } from "./to-model-messages.ts";
import { toSettings } from "./to-settings.ts";

/** `POST /v1/chat/completions`: the conversation goes to the chosen tier's model as it was sent. */
export function chatCompletionsRoute(
  router: MessageRouter,
  report: (error: Error) => void,
): Handler<ClientEnv> {
  return async (c) => {
    const request = parseChatCompletionRequest(await readJson(c.req));
    const call = callOf(c, "openai");
    const decision = await chooseTier(request, router, call);
    const prompt = toModelMessages(request.messages);
    const settings = toSettings(request);
    if (request.stream !== true) {
      const answer = await router.reply(decision, prompt, { ...call, settings });
      return sendWhole(c, answer);
    }
    const opened = await openReply(router, { decision, prompt, settings, call });
    const hasUsage = request.stream_options?.include_usage === true;
    return sendStream(c, opened, { hasUsage, report });
  };
}

function sendWhole(c: Context<ClientEnv>, { decision, reply }: Answer): Response {
  setHeaders(c, decisionHeaders(decision));
  c.header("x-router-reply-ms", String(reply.replyMs));
  if (reply.replyError !== null) return refuse(c, reply.replyError);
  return c.json(wholeCompletion(headOf(c, decision.model), reply));
}

async function sendStream(
  c: Context<ClientEnv>,
  { decision, deltas, answer }: OpenedReply,
  { hasUsage, report }: { hasUsage: boolean; report: (error: Error) => void },
): Promise<Response> {
  setHeaders(c, decisionHeaders(decision));
  const pieces = deltas.values();
  const first = await pieces.next();
  if (first.done === true) {
    const whole = await answer;
    if (whole.reply.replyError !== null) return sendWhole(c, whole);
  }
  const head = headOf(c, decision.model);
  return sendEvents(
    c,
    async (send) => {
      await send(chunkOf(head, { role: "assistant", content: first.value ?? "" }));
      for await (const content of pieces) await send(chunkOf(head, { content }));
      const { reply } = await answer;
      if (reply.replyError !== null) return send(openAiError(reply.replyError, { status: 502 }));
      await send(chunkOf(head, {}, finishOf(reply)));
      if (hasUsage) await send(usageChunk(head, reply));
      return send("[DONE]");
    },
    (error, send) => {
      report(error instanceof Error ? error : new Error("Not an error was thrown."));
      return send(openAiError("The router failed; its console says where.", { status: 500 }));
    },
  );
}

/** The router has tried again already; a client that does too would only spend more. */
function refuse(c: Context, error: string): Response {
  return c.json(openAiError(error, { status: 502 }), 502, { "x-should-retry": "false" });
}

function headOf({ var: { requestId } }: Context<ClientEnv>, model: string): CompletionHead {
  return { id: `chatcmpl-${requestId}`, created: Math.floor(Date.now() / 1000), model };
}

function setHeaders(c: Context, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
}
