import { decideUnasked, keepAllowed, type Routing } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { Asked as RoutedRequest } from "../decision/capabilities.ts";
import { mayName, type Named, findPlan } from "../decision/replies.ts";
import { cheapestTier, type Tier, tierNames } from "../decision/tier-question.ts";
import { createTurns, readTalk, staysWarm } from "../decision/turns.ts";
import { isClientTask, toTierState } from "../conversation/user-turns.ts";
import type { Call, MessageRouter } from "../message-router.ts";
import type { TokenUsage } from "../reply/usage.ts";
import { HttpError } from "../http-error.ts";
import type { Api, ApiRequest } from "./api.ts";
import { historyField } from "./repair-history.ts";
import type { Target } from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";

interface Chosen {
  readonly decision: Decision;
  /** The evaluation model's decision if another model replies. */
  readonly autoDecision: Promise<Decision> | null;
  /** Keeps the model that replied for the later steps of the turn. */
  readonly keep: (decision: Decision, usage: TokenUsage | null) => void;
}

interface ApiCall extends Call {
  /** The client's key; callers with different keys share no turn. */
  readonly caller: string;
}

interface Asked extends Pick<RoutedRequest, "conversation" | "passed"> {
  readonly call: ApiCall;
  /** The text if it is evaluated beside the reply. */
  readonly evaluatedText?: string | null;
}

/** Creates the chooser of a request's model. It throws an HttpError for an unknown model or without a text. */
export function createModelChooser(parts: NamedModels & { readonly router: MessageRouter }) {
  const { router, routing } = parts;
  const turnOf = createTurns();
  const current = () => routing.services.replies.current;

  /** Takes a tier or a model without its evaluation, and reserves it in the call's budget. */
  async function takeNamed(
    namedModel: Named,
    cause: Decision["cause"],
    { call, conversation, evaluatedText = null }: Asked,
  ): Promise<Chosen> {
    const decision = keepAllowed(decideUnasked(namedModel, cause, routing), call.key, routing);
    const plans = [findPlan(decision, current(), call.key)];
    await call.budget?.reserve({ evaluatedText, conversation, plans });
    return { decision, autoDecision: null, keep: () => undefined };
  }

  async function choose(
    api: Api,
    { model: name, conversation, passed: passedRequest }: RoutedRequest & Pick<ApiRequest, "model">,
    call: ApiCall,
  ): Promise<Chosen> {
    const meaning = toMeaning(name, api, parts);
    const request = { call, conversation, passed: passedRequest };
    if (meaning === "cheapest") return takeNamed({ tier: cheapestTier }, "requested", request);
    if (meaning !== "auto") {
      if (mayName(meaning, call.key, current())) return takeNamed(meaning, "requested", request);
      const problem = "The key may use neither this model nor this tier; use auto.";
      throw new HttpError(403, problem, { param: "model" });
    }
    const userTalk = readTalk(conversation);
    const text = userTalk.texts.at(-1);
    if (text === undefined) {
      const problem = "auto decides by the last user message; send one.";
      throw new HttpError(400, problem, { param: historyField(api.upstreamType) });
    }
    if (isClientTask(conversation, text)) return takeNamed({ tier: cheapestTier }, "task", request);
    return decideTurn(userTalk, request);
  }

  async function decideTurn(talk: ReturnType<typeof readTalk>, request: Asked): Promise<Chosen> {
    const { texts } = talk;
    const state = toTierState(texts);
    const evaluatedText = state.user_message;
    const { shadowModel } = routing.policy;
    const shadowTarget = shadowModel === null ? null : toTarget(shadowModel, parts);
    const isShadow = shadowTarget !== null && mayName(shadowTarget, request.call.key, current());
    const shadowChoice = isShadow
      ? await takeNamed(shadowTarget, "shadow", { ...request, evaluatedText })
      : null;
    const isFree = isShadow || request.call.budget === null;
    const autoCall = isFree
      ? request.call
      : await router.reserveAuto(request.call, evaluatedText, request.conversation);
    const userTurn = turnOf(request.call.caller, talk);
    const decide = async () => {
      const { decision, isKept } = await userTurn.decide(async (earlierTurn) => {
        const next = await router.decide(state, autoCall, { isShadow });
        if (earlierTurn === null || !staysWarm(earlierTurn, next, texts.at(-1) ?? "")) return next;
        return { ...next, ...toModel(earlierTurn.decision), cause: "warm-cache" };
      });
      const allowedDecision = keepAllowed(
        isKept ? toKeptDecision(decision) : decision,
        autoCall.key,
        routing,
      );
      return router.plans.keepCapable(allowedDecision, request, autoCall.key);
    };
    const pendingDecision = decide();
    if (shadowChoice === null)
      return { decision: await pendingDecision, autoDecision: null, keep: userTurn.keep };
    pendingDecision.catch(() => undefined); // the log records that it failed
    return { ...shadowChoice, autoDecision: pendingDecision };
  }

  /** A later step of a turn costs no evaluation. */
  const toKeptDecision = (decision: Decision): Decision => ({
    ...decideUnasked({ tier: cheapestTier }, "turn", routing),
    ...toModel(decision),
  });

  return choose;
}

const toModel = ({ tierUsed, model, upstream, prices }: Decision) => {
  return { tierUsed, model, upstream, prices };
};

/** The parts that give the models' names their meanings. */
export interface NamedModels {
  readonly routing: Routing;
  readonly options: Pick<RouterOptions, "clientModels">;
}

/** The APIs' name for the evaluation model's choice. */
const autoModel = "auto";

/** Words of a client's own model name that mean the cheapest tier. */
const smallModel = /(?:^|[-_.])(?:haiku|mini|nano|lite|flash|small)(?:$|[-_.])/;

/** Names are sent in headers. */
const headerText = /^[ -~]{1,256}$/;

/** Returns the router's own names of models. */
export function ownNames({ routing }: NamedModels): string[] {
  const { aliases } = routing.services.replies.current;
  return [...new Set([autoModel, ...tierNames, ...aliases.keys()])];
}

/** Returns the error of an unknown name. */
export function missingModel(parts: NamedModels): HttpError {
  const message = `There is no such model here; use ${ownNames(parts).join(", ")}, a model of the configuration, or of the gateway as provider/model, or give the name a meaning in the aliases of router.config.json.`;
  return new HttpError(404, message, { param: "model", code: "model_not_found" });
}

/** A name's meaning: the evaluation model's choice, the cheapest tier, a named tier, or a model. */
type Meaning = "auto" | "cheapest" | { readonly tier: Tier } | { readonly target: Target };

/** Returns the meaning of the name that a client sent. @throws HttpError (404) */
function toMeaning(requestedName: string, api: Api, models: NamedModels): Meaning {
  const { routing, options } = models;
  const { current } = routing.services.replies;
  const name = current.aliases.get(requestedName) ?? requestedName;
  if (name === autoModel) return name;
  const tier = tierNames.find((tierName) => tierName === name);
  if (tier !== undefined) return { tier };
  if (!isModel(name, models) && options.clientModels === "auto" && api.clientModels.test(name)) {
    return smallModel.test(name) ? "cheapest" : autoModel;
  }
  return toTarget(name, models);
}

/** Whether a name is a model's of the configuration or the price list. */
export function isModel(modelName: string, { routing }: NamedModels): boolean {
  return routing.services.replies.current.isConfigured(modelName) || routing.prices.has(modelName);
}

/** Returns the model of a name that is no tier's. @throws HttpError (404) */
function toTarget(modelName: string, models: NamedModels): { readonly target: Target } {
  const { current } = models.routing.services.replies;
  const replyPlan = headerText.test(modelName) ? current.planOfModel(modelName) : null;
  if (replyPlan === null) throw missingModel(models);
  return { target: replyPlan.targets[0] };
}
