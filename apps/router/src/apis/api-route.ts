import type { Context, Handler, Hono } from "hono";
import type { Routing } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import { defectMessage, HttpError } from "../http-error.ts";
import type { Answer, Call } from "../message-router.ts";
import { type PassedRequest, refusalBy, takesBody } from "../reply/passed-request.ts";
import type { GeneratedReply } from "../reply/generate-reply.ts";
import type { ReplyListener } from "../reply/reply-piece.ts";
import type { RouterOptions } from "../router-options.ts";
import {
  addIgnored,
  toCall,
  toCaller,
  type ClientEnv,
  setDecisionHeaders,
} from "../routes/client-request.ts";
import { type EventSender, sendEvents } from "../routes/event-stream.ts";
import type { Guards } from "../routes/guards.ts";
import type { Api, ApiRequest, ReplyWriter } from "./api.ts";
import { withCallIds } from "./call-ids.ts";
import { checkSettings, ignoredBy, warnedFields } from "./ignored-fields.ts";
import { createModelChooser } from "./choose-model.ts";
import { apis } from "./apis.ts";
import { addModelRoutes } from "./model-routes.ts";
import { invalidField } from "./parse-body.ts";
import { readJson } from "../routes/json-body.ts";
import { withServiceIds } from "./repair-history.ts";
import { estimateInput } from "../reply/billed-tokens.ts";

type ApiParts = Parameters<typeof createModelChooser>[0] & {
  readonly guards: Guards;
  readonly options: Pick<RouterOptions, "pingMs">;
};

/** Adds the routes of the three APIs. */
export function addApiRoutes(app: Hono<ClientEnv>, parts: ApiParts): void {
  const { guards } = parts;
  const choose = createModelChooser(parts);
  addModelRoutes(app, parts);
  for (const api of apis) {
    app.post(api.path, ...guards.conversation, replyRoute(api, choose, parts));
    if (api.count === null) continue;
    const { path, absent } = api.count;
    app.post(path, ...guards.largeBody, async (c) => {
      const requestBody = Object(await readJson(c.req)) as object;
      const { conversation } = api.read({ ...absent, ...requestBody });
      return c.json({ input_tokens: estimateInput(conversation) });
    });
  }
}

/** One reply to a request. */
interface ReplyCall {
  readonly ask: (listener: ReplyListener) => Promise<Answer>;
  /** Sets the headers of the answer. */
  readonly setHeaders: (answerDecision: Decision | undefined) => void;
  /** Returns the decision for the model that replies, or will. */
  readonly decision: () => Decision;
  /** Returns the writer, which is opened for that model. */
  readonly writer: () => ReplyWriter;
}

function replyRoute(
  api: Api,
  choose: ReturnType<typeof createModelChooser>,
  { router, routing, options }: ApiParts,
): Handler<ClientEnv> {
  return async (c) => {
    const request = api.read(await readJson(c.req));
    // Otherwise a request that no service takes would cost a decision.
    const call = { ...toCall(c, api.name), caller: toCaller(c), repairs: request.repairs };
    const passedRequest = { ...api, ...request };
    checkSupport(passedRequest, call, routing);
    if (call.budget !== null) checkPrice(request.body, api);
    const routedRequest = { ...request, passed: passedRequest };
    const chosenModel = await choose(api, routedRequest, call);
    const planned = router.plans.planFor(chosenModel.decision, routedRequest, call.key);
    const [target] = planned.plan.targets;
    const isOpenEnded = call.budget?.isOpenEnded === true; // then no body is passed
    const allowedBody = isLimited(call) ? request.allowed() : null;
    const droppedNames = allowedBody?.droppedFields ?? [];
    const isUnchanged = takesBody(target.upstream, passedRequest) && !isOpenEnded;
    if (!isUnchanged) checkSettings(target, request);
    const ignoredNames = new Set([
      ...(isUnchanged ? [] : ignoredBy(target, request)),
      ...droppedNames,
    ]);
    const { repairs, body: clientBody } = { ...request, ...allowedBody };
    const sentBody = withServiceIds(api.upstreamType, clientBody);
    const isVerbatim = repairs.length === 0 && droppedNames.length === 0 && sentBody === clientBody;
    const json = isVerbatim ? await c.req.text() : JSON.stringify(sentBody);
    const createdAt = Math.floor(Date.now() / 1000);
    let decision = planned.plannedDecision;
    let writer: ReplyWriter | null = null;
    const reply: ReplyCall = {
      async ask(listener) {
        const answer = await router.reply(chosenModel.decision, request.conversation, {
          ...call,
          listener,
          planned,
          isWhole: !request.isStreamed,
          onFallback: (fallbackDecision) => void (decision = fallbackDecision),
          autoDecision: chosenModel.autoDecision,
          toService: withCallIds,
          onWarnings: (warnings) => {
            for (const field of warnedFields(warnings, request.body)) ignoredNames.add(field);
          },
          passed: { ...passedRequest, ...allowedBody, json, header: (name) => c.req.header(name) },
        });
        const { end } = answer.reply;
        if (end !== null) chosenModel.keep(answer.decision, end.usage);
        return answer;
      },
      setHeaders(answerDecision) {
        addIgnored(c, [...ignoredNames]);
        setDecisionHeaders(c, answerDecision ?? decision);
      },
      decision: () => decision,
      writer: () => (writer ??= api.write({ ...call, model: decision.model, createdAt }, request)),
    };
    return request.isStreamed ? sendStream(c, reply, options.pingMs) : sendWhole(c, reply);
  };
}

/** @throws HttpError (400) for a field that makes tokens dearer. */
function checkPrice(requestBody: ApiRequest["body"], { cheapValues }: Api): void {
  for (const [fieldName, cheapest] of Object.entries(cheapValues)) {
    if (cheapest.includes(requestBody[fieldName] ?? cheapest[0])) continue;
    const message = "makes a reply dearer, and the key has a budget; leave it out";
    throw invalidField({ path: [fieldName], message });
  }
}

/** Whether a key has tiers, models or a budget, which no field of a request may get around. */
function isLimited({ key, budget }: Call): boolean {
  return budget !== null || (key !== null && (key.tiers ?? key.models) !== null);
}

/** @throws HttpError (400) unless the model of a tier takes the body unchanged. */
function checkSupport(
  passedRequest: Omit<PassedRequest, "json">,
  { budget }: Call,
  { services }: Routing,
): void {
  const { unsupported: problem } = passedRequest;
  if (problem === null) return;
  if (budget !== null) throw problem;
  const plans = Object.values(services.replies.current.tiers);
  const upstreams = plans.flatMap(({ targets }) => targets.map(({ upstream }) => upstream));
  if (upstreams.some((upstream) => takesBody(upstream, passedRequest))) return;
  throw refusalBy([...new Set(upstreams.map(({ name }) => name))], problem);
}

async function sendWhole(c: Context<ClientEnv>, { ask, setHeaders, writer }: ReplyCall) {
  let passedText = "";
  const answer = await ask((part) => {
    if (typeof part === "string") passedText += part;
    else writer().add(part);
  });
  const { reply } = answer;
  c.header("x-router-reply-ms", String(reply.replyMs));
  setHeaders(answer.decision);
  if (reply.end === null) throw toHttpError(answer);
  if (passedText !== "") return c.body(passedText, 200, { "Content-Type": "application/json" });
  writer().end(reply.end);
  return c.json(writer().whole());
}

/** Streams the reply. A failure before the first piece is a status, unless a silence has sent the headers. */
async function sendStream(
  c: Context<ClientEnv>,
  { ask, setHeaders, decision, writer }: ReplyCall,
  pingMs: number,
): Promise<Response> {
  const startSignal = Promise.withResolvers<void>();
  const connectedSignal = Promise.withResolvers<EventSender>();
  let [passedText, isBegun] = ["", false];
  const beginOnce = () => (isBegun ? [] : ((isBegun = true), writer().begin()));
  const answer = ask(async (part) => {
    if (typeof part === "string") passedText = part || passedText;
    startSignal.resolve();
    const sendEvent = await connectedSignal.promise; // until then, no more of the reply is read
    await sendEvent(typeof part === "string" ? part : [...beginOnce(), ...writer().add(part)]);
  });
  const earlyAnswer = await findFirst(startSignal.promise, answer, pingMs);
  setHeaders(earlyAnswer?.decision);
  if (earlyAnswer && earlyAnswer.reply.end === null) throw toHttpError(earlyAnswer);
  const failed = () => writer().fail(defectMessage, 500);
  return sendEvents(c, { pingMs, isSilent: earlyAnswer === null, failed }, async (sendEvent) => {
    connectedSignal.resolve(sendEvent);
    const { reply } = await answer;
    if (reply.end === null) {
      const status = statusFor(reply, decision());
      await sendEvent(writer().fail(reply.replyError ?? "", status, passedText));
    } else if (passedText === "") {
      await sendEvent([...beginOnce(), ...writer().end(reply.end)]);
    }
  });
}

/** Waits for the first piece or the end; null after a silence. */
async function findFirst(beginning: Promise<void>, answer: Promise<Answer>, pingMs: number) {
  if (pingMs === 0) return Promise.race([beginning, answer]);
  const silence = Promise.withResolvers<null>();
  const pingTimer = setTimeout(silence.resolve, pingMs, null);
  try {
    return await Promise.race([beginning, answer, silence.promise]);
  } finally {
    clearTimeout(pingTimer);
  }
}

function toHttpError({ decision, reply }: Answer): HttpError {
  const { httpError, replyError } = reply;
  const status = statusFor(reply, decision);
  const serviceRetryAfter = httpError?.retryAfter ?? null;
  // Without a time, the clients of an overloaded service wait longer each time.
  const retryAfter =
    status === 529 ? (serviceRetryAfter ?? undefined) : status === 429 ? serviceRetryAfter : null;
  const code = status === 404 ? "model_not_found" : (httpError?.code ?? null);
  const param = status === 404 ? "model" : status === 400 ? httpError?.param : undefined;
  const details = { ...(param && { param }), ...(code !== null && { code }) };
  return new HttpError(status, replyError ?? "", { ...details, retryAfter });
}

/** Errors of the request keep their status; all others are between the router and its models. */
function statusFor({ httpError, failure }: GeneratedReply, { tierUsed }: Decision) {
  const status = httpError?.status ?? null;
  if (failure !== null) return 504;
  if (status === 429) return 429;
  if (status === 503 || status === 529) return 529;
  if (status === 404 && tierUsed === null) return 404;
  return status !== null && [400, 413, 422].includes(status) ? 400 : 502;
}
