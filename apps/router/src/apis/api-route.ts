import type { Context, Handler, Hono } from "hono";
import type { Routing } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import { planOf } from "../decision/replies.ts";
import { defectMessage, HttpError } from "../http-error.ts";
import type { Answer, MessageRouter } from "../message-router.ts";
import type { GeneratedReply } from "../reply/generate-reply.ts";
import type { Target } from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";
import { callOf, type ClientEnv, readJson, setDecisionHeaders } from "../routes/client-request.ts";
import { type EventSender, sendEvents } from "../routes/event-stream.ts";
import type { Guards } from "../routes/guards.ts";
import type { Api, ApiRequest, ReplyWriter } from "./api.ts";
import { addModelRoutes, createModelChooser } from "./choose-model.ts";
import { apis } from "./errors.ts";
import { readMessagesRequest } from "./messages/messages-request.ts";
import { type Conversation, filesOf, textOf } from "../conversation/conversation.ts";
import { estimateTokens } from "../reply/usage.ts";

interface ApiParts {
  readonly router: MessageRouter;
  readonly routing: Routing;
  readonly guards: Guards;
  readonly options: Pick<RouterOptions, "clientModels" | "pingMs">;
}

/** Adds the routes of the three APIs. */
export function addApiRoutes(app: Hono<ClientEnv>, parts: ApiParts): void {
  const { guards } = parts;
  const choose = createModelChooser(parts);
  addModelRoutes(app, parts);
  app.post("/v1/messages/count_tokens", ...guards.largeBody, async (c) => {
    const body = Object(await readJson(c.req)) as object;
    const { conversation } = readMessagesRequest({ max_tokens: 1, ...body });
    return c.json({ input_tokens: countTokens(conversation) });
  });
  for (const api of apis)
    app.post(api.path, ...guards.conversation, replyRoute(api, choose, parts));
}

type ReplyGiven = Parameters<MessageRouter["reply"]>[2];

/** One reply to a request: the listeners of a reply, and the parts that write it. */
interface ReplyCall {
  readonly decision: Decision;
  readonly ask: (
    listeners: Pick<ReplyGiven, "onPieces" | "onBytes" | "onFallback">,
  ) => Promise<Answer>;
  /** Creates the writer when the replying model is known. */
  readonly open: (decision: Decision) => ReplyWriter;
}

function replyRoute(
  api: Api,
  choose: ReturnType<typeof createModelChooser>,
  { router, routing, options }: ApiParts,
): Handler<ClientEnv> {
  return async (c) => {
    const request = api.read(await readJson(c.req));
    // Otherwise a request that no service takes would cost a decision.
    const call = callOf(c, api.name);
    const isPassed = call.budget === null && isPassedBy(api, routing);
    if (request.unsupported && !isPassed) throw request.unsupported;
    const chosen = await choose(api, request, call);
    const { current } = routing.services.replies;
    const [target] = planOf(chosen.decision, current, call.key).targets;
    const isOpenEnded = call.budget?.isOpenEnded === true; // then no body is passed
    const ignored = ignoredBy(isOpenEnded ? null : api, target, request);
    if (ignored.length > 0) c.header("x-router-ignored", ignored.join(", "));
    const createdAt = Math.floor(Date.now() / 1000);
    const reply: ReplyCall = {
      decision: chosen.decision,
      async ask(listeners) {
        const passed = { ...api, ...request, headers: c.req.header() };
        const given = { ...call, ...listeners, autoDecision: chosen.autoDecision, passed };
        const answer = await router.reply(chosen.decision, request.conversation, given);
        chosen.keep(answer.decision, answer.reply.end?.usage ?? null);
        return answer;
      },
      open: ({ model }) => api.write({ requestId: call.requestId, model, createdAt }, request),
    };
    return request.isStreamed ? sendStream(c, reply, options.pingMs) : sendWhole(c, reply);
  };
}

/** Returns the fields without an effect; a service that gets the body reads them itself. */
function ignoredBy(
  api: Api | null,
  { upstream, model }: Target,
  { conversation, unread }: ApiRequest,
): readonly string[] {
  if (upstream.type === api?.upstreamType) return [];
  const isSerial = conversation.providerOptions["openai"]?.["parallelToolCalls"] === false;
  // At the gateway, only models of OpenAI and Anthropic support it.
  const isLost = isSerial && upstream.type === "gateway" && !/^(?:openai|anthropic)\//.test(model);
  return isLost ? [...unread, "parallel_tool_calls"] : unread;
}

/** Whether the model of a tier takes a body of the API unchanged. */
function isPassedBy({ upstreamType }: Api, { services }: Routing): boolean {
  const plans = Object.values(services.replies.current.tiers);
  return plans.some(({ targets }) => targets.some((each) => each.upstream.type === upstreamType));
}

async function sendWhole(c: Context<ClientEnv>, { decision, ask, open }: ReplyCall) {
  let bytes = "";
  let writer: ReplyWriter | null = null;
  let model = decision;
  const answer = await ask({
    onFallback: (changed) => void (model = changed),
    onBytes: (text) => void (bytes += text),
    onPieces: (pieces) => void (writer ??= open(model)).add(pieces),
  });
  const { reply } = answer;
  c.header("x-router-reply-ms", String(reply.replyMs));
  if (reply.end === null) throw toHttpError(c, answer);
  setDecisionHeaders(c, answer.decision);
  if (bytes !== "") return c.body(bytes, 200, { "Content-Type": "application/json" });
  const whole = (writer as ReplyWriter | null) ?? open(answer.decision);
  whole.end(reply.end);
  return c.json(whole.whole());
}

/** Streams the reply. A failure before the first piece is a status, unless a silence has sent the headers. */
async function sendStream(
  c: Context<ClientEnv>,
  { decision, ask, open }: ReplyCall,
  pingMs: number,
): Promise<Response> {
  const begun = Promise.withResolvers<void>();
  const connected = Promise.withResolvers<EventSender>();
  const state = { model: decision, writer: null as ReplyWriter | null, isPassedOn: false };
  const write = () => (state.writer ??= open(state.model));
  const begin = () => (state.writer === null ? write().begin() : []);
  const pass = async (send: (sender: EventSender) => Promise<void> | undefined) => {
    begun.resolve();
    await send(await connected.promise); // until then, no more of the reply is read
  };
  const answer = ask({
    onFallback: (changed) => void (state.model = changed),
    onBytes(text) {
      state.isPassedOn = true;
      return pass((sender) => sender.write(text));
    },
    onPieces: (pieces) => pass((sender) => sender.send([...begin(), ...write().add(pieces)])),
  });
  const ended = await firstOf(begun.promise, answer, pingMs);
  if (ended && ended.reply.end === null) throw toHttpError(c, ended);
  setDecisionHeaders(c, state.model);
  const options = {
    pingMs,
    isSilent: ended === null,
    failed: () => write().fail(defectMessage, 500),
  };
  return sendEvents(c, options, async (sender) => {
    connected.resolve(sender);
    const { reply } = await answer;
    if (reply.end === null) {
      await sender.send(write().fail(reply.replyError ?? "", statusFor(reply, state.model)));
    } else if (!state.isPassedOn) {
      await sender.send([...begin(), ...write().end(reply.end)]);
    }
  });
}

/** Waits for the first piece or the end; null after a silence. */
async function firstOf(begun: Promise<void>, answer: Promise<Answer>, pingMs: number) {
  if (pingMs === 0) return Promise.race([begun, answer]);
  const silence = Promise.withResolvers<null>();
  const timer = setTimeout(silence.resolve, pingMs, null);
  try {
    return await Promise.race([begun, answer, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function toHttpError(c: Context<ClientEnv>, { decision, reply }: Answer): HttpError {
  setDecisionHeaders(c, decision);
  const { httpError, replyError } = reply;
  const status = statusFor(reply, decision);
  const retryAfter = status === 429 ? (httpError?.retryAfter ?? null) : null;
  const code = status === 404 ? "model_not_found" : (httpError?.code ?? null);
  const details = { ...(status === 404 && { param: "model" }), ...(code !== null && { code }) };
  return new HttpError(status, replyError ?? "", { ...details, retryAfter });
}

/** Errors of the request keep their status; all others are between the router and its models. */
function statusFor({ httpError, failure }: GeneratedReply, { tierUsed }: Decision) {
  const status = httpError?.status ?? null;
  if (failure !== null) return 504;
  if (status === 429) return 429;
  if (status === 404 && tierUsed === null) return 404;
  return status !== null && [400, 413, 422].includes(status) ? 400 : 502;
}

/** Anthropic's count of the largest image that it does not shrink. */
const TOKENS_PER_FILE = 1600;

/** Estimates the tokens of texts, calls, results and tools by their lengths; each image or file is 1,600. */
export function countTokens({ messages, tools }: Conversation): number {
  const parts = messages.flatMap((message) => message.parts);
  const characters = textOf(parts).length + JSON.stringify(tools).length;
  return estimateTokens(characters) + parts.flatMap(filesOf).length * TOKENS_PER_FILE;
}
