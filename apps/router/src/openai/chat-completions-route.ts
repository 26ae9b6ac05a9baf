import type { Context, Handler } from "hono";
import { decisionHeaders } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { Answer, Call, MessageRouter } from "../message-router.ts";
import { defectMessage, openAiError, retryHeaders } from "../routes/failures.ts";
import { callOf, type ClientEnv } from "../routes/guards.ts";
import { readJson } from "../routes/read-message.ts";
import { type SendEvent, sendEvents } from "../routes/send-events.ts";
import {
  type ChatCompletionRequest,
  parseChatCompletionRequest,
  toModelMessages,
  toSettings,
} from "./chat-completion-request.ts";
import {
  chunkOf,
  type CompletionHead,
  finishOf,
  usageChunk,
  wholeCompletion,
} from "./completion-forms.ts";
import { chooseTier } from "./models.ts";

/** `POST /v1/chat/completions`: the conversation goes to the chosen tier's model as it was sent. */
export function chatCompletionsRoute(
  router: MessageRouter,
  report: (error: Error) => void,
): Handler<ClientEnv> {
  return async (c) => {
    const request = parseChatCompletionRequest(await readJson(c.req));
    const call = callOf(c, "openai");
    const decision = await chooseTier(request, router, call);
    if (request.stream === true) {
      return sendStream(c, openReply(router, { decision, request, call }), { request, report });
    }
    const prompt = toModelMessages(request.messages);
    const settings = toSettings(request);
    return sendWhole(c, await router.reply(decision, prompt, { ...call, settings }));
  };
}

function sendWhole(c: Context<ClientEnv>, { decision, reply }: Answer): Response {
  setHeaders(c, decisionHeaders(decision));
  c.header("x-router-reply-ms", String(reply.replyMs));
  if (reply.replyError !== null) return sendFailure(c, reply);
  return c.json(wholeCompletion(headOf(c, decision.model), reply));
}

/** A streamed reply on its way. */
interface OpenedReply {
  /** Resolves with the reply's first text, or with its end where none comes. */
  readonly begun: Promise<Answer | void>;
  /** The decision that holds by now, the fallback's included. */
  readonly decision: () => Decision;
  /** Gives the text to the client from now on; until then no more of it is read. */
  readonly passTo: (onDelta: (text: string) => Promise<void> | void) => void;
  readonly answer: Promise<Answer>;
}

interface OpenReplyOptions {
  readonly decision: Decision;
  readonly request: ChatCompletionRequest;
  readonly call: Call;
}

/**
 * Asks for a reply whose first text can be waited for: until it is there the status and the headers
 * are open, and a failure can still be a failed response.
 */
function openReply(
  router: MessageRouter,
  { decision, request, call }: OpenReplyOptions,
): OpenedReply {
  const first = Promise.withResolvers<void>();
  const reader = Promise.withResolvers<(text: string) => Promise<void> | void>();
  let current = decision;
  const answer = router.reply(decision, toModelMessages(request.messages), {
    ...call,
    settings: toSettings(request),
    onFallback: (changed) => (current = changed),
    async onDelta(text) {
      first.resolve();
      await (
        await reader.promise
      )(text);
    },
  });
  const begun = Promise.race([first.promise, answer]);
  return { begun, decision: () => current, passTo: reader.resolve, answer };
}

interface StreamOptions {
  readonly request: ChatCompletionRequest;
  readonly report: (error: Error) => void;
}

async function sendStream(
  c: Context<ClientEnv>,
  { begun, decision, passTo, answer }: OpenedReply,
  { request, report }: StreamOptions,
): Promise<Response> {
  const ended = await begun;
  if (ended && ended.reply.replyError !== null) return sendWhole(c, ended);
  setHeaders(c, decisionHeaders(decision()));
  const head = headOf(c, decision().model);
  return sendEvents(
    c,
    async (send) => {
      await send(chunkOf(head, { role: "assistant", content: "" }));
      passTo((content) => send(chunkOf(head, { content })));
      await sendEnd(send, head, { answer: await answer, request });
    },
    (error, send) => {
      report(error instanceof Error ? error : new Error("Not an error was thrown."));
      return send(openAiError(defectMessage, { status: 500 }));
    },
  );
}

async function sendEnd(
  send: SendEvent,
  head: CompletionHead,
  { answer: { reply }, request }: { answer: Answer; request: ChatCompletionRequest },
): Promise<void> {
  if (reply.replyError !== null) return send(openAiError(reply.replyError, { status: 502 }));
  await send(chunkOf(head, {}, finishOf(reply)));
  if (request.stream_options?.include_usage === true) await send(usageChunk(head, reply));
  await send("[DONE]");
}

function sendFailure(c: Context, { replyError, limit }: Answer["reply"]): Response {
  const status = limit === null ? 502 : 429;
  const headers = retryHeaders(limit?.retryAfter ?? null);
  return c.json(openAiError(replyError ?? "", { status }), status, headers);
}

function headOf({ var: { requestId } }: Context<ClientEnv>, model: string): CompletionHead {
  return { id: `chatcmpl-${requestId}`, created: Math.floor(Date.now() / 1000), model };
}

function setHeaders(c: Context, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
}
