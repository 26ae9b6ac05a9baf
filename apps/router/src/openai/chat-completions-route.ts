import type { FinishReason } from "ai";
import type { Context, Handler, Hono } from "hono";
import { tryDecodeURIComponent } from "hono/utils/url";
import { decideUnasked, type Routing } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import { tierNames } from "../decision/tier-question.ts";
import type { Answer, Call, MessageRouter } from "../message-router.ts";
import type { GeneratedReply } from "../reply/generate-reply.ts";
import type { ToolCallDelta } from "../reply/reply.ts";
import {
  callOf,
  type ClientEnv,
  readJson,
  sendEvents,
  setDecisionHeaders,
} from "../routes/client-request.ts";
import { openAiError } from "../apis/openai-form.ts";
import { HttpError } from "../http-error.ts";
import { defectMessage } from "../routes/failures.ts";
import type { Services } from "../services/connect-services.ts";
import type { Guards } from "../routes/guards.ts";
import {
  type ChatCompletionRequest,
  parseChatCompletionRequest,
} from "./chat-completion-request.ts";
import { toTierState } from "./conversation.ts";
import { toReplyRequest } from "./to-reply-request.ts";
import type { RouterOptions } from "../router-options.ts";

interface OpenAiParts {
  readonly router: MessageRouter;
  readonly routing: Routing;
  readonly services: Pick<Services, "takesOpenAi">;
  readonly guards: Guards;
  readonly options: Pick<RouterOptions, "aliases">;
}

/** Adds OpenAI's chat API: `/v1/chat/completions` and `/v1/models`. */
export function addOpenAiRoutes(app: Hono<ClientEnv>, parts: OpenAiParts): void {
  const { tierModels, prices } = parts.routing;
  app.get("/v1/models", (c) => c.json({ object: "list", data: ownNames(parts).map(toModel) }));
  app.get("/v1/models/*", (c) => {
    const id = tryDecodeURIComponent(c.req.path.slice("/v1/models/".length));
    const known = [...ownNames(parts), ...Object.values(tierModels)];
    if (known.includes(id) || prices.has(id)) return c.json(toModel(id));
    throw missing(parts);
  });
  app.post("/v1/chat/completions", ...parts.guards.conversation, completionsRoute(parts));
}

/** The API's name for the evaluation model's choice. */
const autoModel = "auto";

function ownNames({ options }: OpenAiParts): string[] {
  return [...new Set([autoModel, ...tierNames, ...options.aliases.keys()])];
}

function toModel(id: string) {
  return { id, object: "model", created: 0, owned_by: "router" };
}

function missing(parts: OpenAiParts): HttpError {
  const own = ownNames(parts).join(", ");
  const other = parts.services.takesOpenAi
    ? "a model of the server that replies"
    : "a model of the gateway as provider/model";
  const message = `There is no such model here; use ${own}, ${other}, or give the name a meaning in ROUTER_MODEL_ALIASES.`;
  return new HttpError(404, message, { param: "model", code: "model_not_found" });
}

/** The conversation goes to the chosen model unchanged. */
function completionsRoute(parts: OpenAiParts): Handler<ClientEnv> {
  const { router } = parts;
  const { takesOpenAi } = parts.services;
  return async (c) => {
    const read = parseChatCompletionRequest(await readJson(c.req), takesOpenAi);
    const { request, body } = read;
    const call = callOf(c, "openai");
    const chosen = await chooseModel(request, call, parts);
    const { decision, autoDecision } = chosen;
    const ignored = [...read.unknown];
    // Only models of OpenAI and Anthropic support it.
    const takesSerial = takesOpenAi || /^(?:openai|anthropic)\//.test(decision.model);
    if (request.parallel_tool_calls === false && !takesSerial) ignored.push("parallel_tool_calls");
    if (ignored.length > 0) c.header("x-router-ignored", ignored.join(", "));
    const { prompt, ...asked } = toReplyRequest(request);
    const sent = { ...call, ...asked, body, autoDecision };
    if (request.stream !== true) return sendWhole(c, await router.reply(decision, prompt, sent));
    const ask = (listeners: ReplyOptions) =>
      router.reply(decision, prompt, { ...sent, ...listeners });
    const hasUsage = request.stream_options?.include_usage === true;
    return sendStream(c, decision, { ask, hasUsage });
  };
}

/** Returns the decision for a request. @throws HttpError for a wrong model (404) or no text (400). */
async function chooseModel(
  { model: asked, messages }: ChatCompletionRequest,
  call: Call,
  parts: OpenAiParts,
) {
  const { router, routing, options } = parts;
  const { shadowModel } = routing.policy;
  const model = options.aliases.get(asked) ?? asked;
  const tier = tierNames.find((name) => name === model);
  if (model !== autoModel) {
    const isKnown = tier !== undefined || parts.services.takesOpenAi || model.includes("/");
    if (!isKnown) throw missing(parts);
    const named = tier === undefined ? { model } : { tier };
    return { decision: decideUnasked(named, "requested", routing), autoDecision: null };
  }
  const state = toTierState(messages);
  if (state.user_message.trim() === "") {
    const problem = "auto decides by the last user message; send one.";
    throw new HttpError(400, problem, { param: "messages" });
  }
  const isShadow = shadowModel !== null;
  const autoDecision = router.decide(state, call, { isShadow });
  if (!isShadow) return { decision: await autoDecision, autoDecision: null };
  autoDecision.catch(() => undefined); // the log records that it failed
  return { decision: decideUnasked({ model: shadowModel }, "shadow", routing), autoDecision };
}

function sendWhole(c: Context<ClientEnv>, answer: Answer): Response {
  const { decision, reply } = answer;
  setDecisionHeaders(c, decision);
  c.header("x-router-reply-ms", String(reply.replyMs));
  if (reply.replyError !== null) throw toHttpError(answer);
  const tool_calls = reply.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const hasCalls = tool_calls.length > 0;
  const content = reply.reply === "" && hasCalls ? null : reply.reply;
  const message = { role: "assistant", content, refusal: null, ...(hasCalls && { tool_calls }) };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(reply) };
  const head = headOf(c, decision.model);
  return c.json({ ...head, object: "chat.completion", choices: [choice], usage: usageOf(reply) });
}

function toHttpError({ decision, reply: { httpError, replyError } }: Answer): HttpError {
  const status = statusFor(httpError?.status ?? null, decision);
  const retryAfter = status === 429 ? (httpError?.retryAfter ?? null) : null;
  const code = status === 404 ? "model_not_found" : (httpError?.code ?? null);
  const details = { ...(status === 404 && { param: "model" }), ...(code !== null && { code }) };
  return new HttpError(status, replyError ?? "", { ...details, retryAfter });
}

/** Errors of the request keep their status; all others are between the router and its models. */
function statusFor(status: number | null, { tierUsed }: Decision): 400 | 404 | 429 | 502 {
  if (status === 429) return 429;
  if (status === 404 && tierUsed === null) return 404;
  return status !== null && [400, 413, 422].includes(status) ? 400 : 502;
}

type ReplyOptions = Partial<Parameters<MessageRouter["reply"]>[2]>;

/** Streams a reply; a failure before its first piece can still change the response's status. */
async function sendStream(
  c: Context<ClientEnv>,
  first: Decision,
  { ask, hasUsage }: { ask: (listeners: ReplyOptions) => Promise<Answer>; hasUsage: boolean },
): Promise<Response> {
  const begun = Promise.withResolvers<void>();
  const reader = Promise.withResolvers<(delta: object) => Promise<void> | void>();
  let decision = first;
  const pass = async (delta: object) => {
    begun.resolve();
    const passOn = await reader.promise; // until then, no more of the reply is read
    await passOn(delta);
  };
  const answer = ask({
    onFallback: (changed) => (decision = changed),
    onDelta: (content) => pass({ content }),
    onToolCalls: (deltas) => pass(toolCallsDelta(deltas)),
  });
  const ended = await Promise.race([begun.promise, answer]);
  if (ended && ended.reply.replyError !== null) return sendWhole(c, ended);
  setDecisionHeaders(c, decision);
  const head = headOf(c, decision.model);
  return sendEvents(
    c,
    async (send) => {
      await send(chunkOf(head, { role: "assistant", content: "" }));
      reader.resolve((delta) => send(chunkOf(head, delta)));
      const { reply } = await answer;
      if (reply.replyError !== null) return send(openAiError(reply.replyError, 502));
      await send(chunkOf(head, {}, finishOf(reply)));
      if (hasUsage) await send({ ...chunkOf(head, {}), choices: [], usage: usageOf(reply) });
      await send("[DONE]");
    },
    [openAiError(defectMessage, 500)],
  );
}

function headOf({ var: { requestId } }: Context<ClientEnv>, model: string) {
  return { id: `chatcmpl-${requestId}`, created: Math.floor(Date.now() / 1000), model };
}

function chunkOf(
  head: ReturnType<typeof headOf>,
  delta: object,
  finishReason: string | null = null,
) {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return { ...head, object: "chat.completion.chunk", choices: [choice] };
}

function toolCallsDelta(deltas: readonly ToolCallDelta[]) {
  const tool_calls = deltas.map(({ index, id, name, arguments: text }) => ({
    index,
    ...(id !== undefined && { id, type: "function" }),
    function: { ...(name !== undefined && { name }), arguments: text },
  }));
  return { tool_calls };
}

const finishReasons: Partial<Record<FinishReason, string>> = {
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

function finishOf({ finishReason }: GeneratedReply): string {
  return finishReasons[finishReason ?? "stop"] ?? "stop";
}

function usageOf({ usage }: GeneratedReply) {
  const prompt_tokens = usage?.inputTokens ?? 0;
  const completion_tokens = usage?.outputTokens ?? 0;
  const total_tokens = usage?.totalTokens ?? prompt_tokens + completion_tokens;
  return { prompt_tokens, completion_tokens, total_tokens };
}
