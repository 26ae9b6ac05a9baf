import type { Context, Handler } from "hono";
import { decisionHeaders } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { Answer, Call, MessageRouter, RouterReplyOptions } from "../message-router.ts";
import type { ReplyPrompt, ReplyHttpError } from "../reply/reply.ts";
import { defectMessage, openAiError, retryHeaders } from "../routes/failures.ts";
import { callOf, type ClientEnv, readJson } from "../routes/client-request.ts";
import { type SendEvent, sendEvents } from "../routes/send-events.ts";
import { parseChatCompletionRequest, rejectSampling } from "./chat-completion-request.ts";
import type { ChatCompletionRequest } from "./chat-completion-schema.ts";
import {
  chunkOf,
  type CompletionHead,
  finishOf,
  toolCallsDelta,
  usageChunk,
  wholeCompletion,
} from "./completion-forms.ts";
import type { ReadConversation } from "./conversation.ts";
import { chooseModel, type ModelNames } from "./models.ts";
import { toModelMessages, toReplyOptions } from "./to-reply-request.ts";

/** What completions are made with. */
export interface CompletionParts {
  readonly router: MessageRouter;
  readonly names: ModelNames;
  readonly readConversation: ReadConversation;
  /** The model that replies to `auto`, or null for the one that is chosen. */
  readonly shadowModel: string | null;
  /** Called with an error nobody expected. */
  readonly report: (error: Error) => void;
}

/**
 * Returns the route `POST /v1/chat/completions`: the conversation goes to the chosen model as it
 * was sent.
 */
export function chatCompletionsRoute(parts: CompletionParts): Handler<ClientEnv> {
  const { router, report } = parts;
  return async (c) => {
    const read = parseChatCompletionRequest(await readJson(c.req));
    const { request } = read;
    const { takesOpenAi } = parts.names;
    if (!takesOpenAi) rejectSampling(read);
    const call = callOf(c, "openai");
    const { decision, autoDecision } = await chooseModel(request, { ...parts, call });
    const ignored = takesOpenAi ? [] : [...read.unknown, ...ignoredBy(decision, request)];
    if (ignored.length > 0) c.header("x-router-ignored", ignored.join(", "));
    const asked = {
      prompt: toModelMessages(request.messages),
      options: { ...toReplyOptions(read), autoDecision },
      call,
    };
    if (request.stream === true) {
      return sendStream(c, openReply(router, decision, asked), { request, report });
    }
    const { prompt, options } = asked;
    return sendWhole(c, await router.reply(decision, prompt, { ...call, ...options }));
  };
}

/** Names what the chosen model is not sent: only two makers take leave to call one tool at a time. */
function ignoredBy({ model }: Decision, request: ChatCompletionRequest): string[] {
  const isPassedOn = request.parallel_tool_calls !== false || /^(?:openai|anthropic)\//.test(model);
  return isPassedOn ? [] : ["parallel_tool_calls"];
}

function sendWhole(c: Context<ClientEnv>, { decision, reply }: Answer): Response {
  setHeaders(c, decisionHeaders(decision));
  c.header("x-router-reply-ms", String(reply.replyMs));
  if (reply.replyError !== null) return sendFailure(c, { decision, reply });
  return c.json(wholeCompletion(headOf(c, decision.model), reply));
}

type PassDelta = (delta: object) => Promise<void> | void;

/** A streamed reply on its way. */
interface OpenedReply {
  /** Resolves with the reply's first piece, or with its end where none comes. */
  readonly begun: Promise<Answer | void>;
  /** The decision that holds by now, the fallback's included. */
  readonly decision: () => Decision;
  /** Passes the pieces to the client from now on; until then no more of them is read. */
  readonly passTo: (pass: PassDelta) => void;
  readonly answer: Promise<Answer>;
}

interface AskedReply {
  readonly prompt: ReplyPrompt;
  readonly options: RouterReplyOptions;
  readonly call: Call;
}

/**
 * Asks for a reply whose first piece can be waited for: until it is there the status and the headers
 * are open, and a failure can still be a failed response.
 */
function openReply(
  router: MessageRouter,
  decision: Decision,
  { prompt, options, call }: AskedReply,
): OpenedReply {
  const first = Promise.withResolvers<void>();
  const reader = Promise.withResolvers<PassDelta>();
  let current = decision;
  const pass = async (delta: object) => {
    first.resolve();
    const passOn = await reader.promise;
    await passOn(delta);
  };
  const answer = router.reply(decision, prompt, {
    ...call,
    ...options,
    onFallback: (changed) => (current = changed),
    onDelta: (content) => pass({ content }),
    onToolCalls: (deltas) => pass(toolCallsDelta(deltas)),
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
      passTo((delta) => send(chunkOf(head, delta)));
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

function sendFailure(c: Context, { decision, reply }: Answer): Response {
  const { httpError, replyError } = reply;
  const status = statusFor(httpError, decision);
  const headers = retryHeaders(status === 429 ? (httpError?.retryAfter ?? null) : null);
  const code = status === 404 ? "model_not_found" : (httpError?.code ?? null);
  const details = {
    ...(status === 404 && { param: "model" }),
    ...(code !== null && { code }),
  };
  return c.json(openAiError(replyError ?? "", { status, details }), status, headers);
}

/** What is wrong with the request is reported as that; the rest is between the router and its models. */
function statusFor(
  httpError: ReplyHttpError | null,
  { tierUsed }: Decision,
): 400 | 404 | 429 | 502 {
  if (httpError?.status === 429) return 429;
  if (httpError?.status === 404 && tierUsed === null) return 404;
  return httpError !== null && [400, 413, 422].includes(httpError.status) ? 400 : 502;
}

function headOf({ var: { requestId } }: Context<ClientEnv>, model: string): CompletionHead {
  return { id: `chatcmpl-${requestId}`, created: Math.floor(Date.now() / 1000), model };
}

function setHeaders(c: Context, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
}
