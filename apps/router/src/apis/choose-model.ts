import { decideUnasked, keepAllowed } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { mayName, type Named, planOf } from "../decision/replies.ts";
import { cheapestTier } from "../decision/tier-question.ts";
import { createTurns, type EarlierTurn, staysWarm } from "../decision/turns.ts";
import { isClientTask, readUserTurns, toTierState } from "../conversation/user-turns.ts";
import type { Call, MessageRouter } from "../message-router.ts";
import type { TokenUsage } from "../reply/usage.ts";
import { HttpError } from "../http-error.ts";
import type { Api, ApiRequest } from "./api.ts";
import { meaningOf, type NamedModels, targetOf } from "./models.ts";

interface ChooserParts extends NamedModels {
  readonly router: MessageRouter;
}

/** A request's decision. */
export interface Chosen {
  readonly decision: Decision;
  /** The evaluation model's decision if another model replies. */
  readonly autoDecision: Promise<Decision> | null;
  /** Keeps the model that replied for the later steps of the turn. */
  readonly keep: (decision: Decision, usage: TokenUsage | null) => void;
}

interface Asked {
  readonly call: Call;
  readonly conversation: Conversation;
  /** The text if it is evaluated beside the reply. */
  readonly evaluated?: string | null;
}

/** Creates the chooser of a request's model. It throws an HttpError for an unknown model or without a text. */
export function createModelChooser(parts: ChooserParts) {
  const { router, routing } = parts;
  const turnOf = createTurns();
  const current = () => routing.services.replies.current;

  /** Takes a tier or a model without its evaluation, and reserves it in the call's budget. */
  async function takeNamed(
    named: Named,
    cause: Decision["cause"],
    { call, conversation, evaluated = null }: Asked,
  ): Promise<Chosen> {
    const decision = keepAllowed(decideUnasked(named, cause, routing), call.key, routing);
    const plans = [planOf(decision, current(), call.key)];
    await call.budget?.reserve({ evaluated, conversation, plans });
    return { decision, autoDecision: null, keep: () => undefined };
  }

  async function choose(api: Api, request: ApiRequest, call: Call): Promise<Chosen> {
    const model = meaningOf(request.model, api, parts);
    const { conversation } = request;
    const asked = { call, conversation };
    if (model === "cheapest") return takeNamed({ tier: cheapestTier }, "requested", asked);
    if (model !== "auto") {
      if (mayName(model, call.key, current())) return takeNamed(model, "requested", asked);
      const problem = "The key may use neither this model nor this tier; use auto.";
      throw new HttpError(403, problem, { param: "model" });
    }
    const texts = readUserTurns(conversation);
    const text = texts.at(-1);
    if (text === undefined) {
      const problem = "auto decides by the last user message; send one.";
      const param = api.name === "responses" ? "input" : "messages";
      throw new HttpError(400, problem, { param });
    }
    if (isClientTask(conversation, text)) return takeNamed({ tier: cheapestTier }, "task", asked);
    return decideTurn(texts, asked);
  }

  async function decideTurn(texts: readonly string[], asked: Asked): Promise<Chosen> {
    const text = texts.at(-1) ?? "";
    const { shadowModel } = routing.policy;
    const shadow = shadowModel === null ? null : targetOf(shadowModel, parts);
    const isShadow = shadow !== null && mayName(shadow, asked.call.key, current());
    const shadowed = isShadow
      ? await takeNamed(shadow, "shadow", { ...asked, evaluated: text })
      : null;
    const call = isShadow
      ? asked.call
      : await router.reserveAuto(asked.call, text, asked.conversation);
    const turn = turnOf(call.caller, texts);
    const decideNew = async (before: EarlierTurn | null) => {
      const next = await router.decide(toTierState(text), call, { isShadow });
      if (before === null || !staysWarm(before, next, text)) return next;
      const { tierUsed, model, upstream, prices } = before.decision;
      return { ...next, tierUsed, model, upstream, prices, cause: "warm-cache" as const };
    };
    const decided = turn.decide(decideNew).then(({ decision, isKept }) => {
      return keepAllowed(isKept ? keptOf(decision) : decision, call.key, routing);
    });
    if (shadowed === null) return { decision: await decided, autoDecision: null, keep: turn.keep };
    decided.catch(() => undefined); // the log records that it failed
    return { ...shadowed, autoDecision: decided };
  }

  /** A later step of a turn costs no evaluation. */
  function keptOf({ tierUsed, model, upstream, prices }: Decision): Decision {
    const tier = tierUsed ?? cheapestTier; // `auto` always has a tier
    return { ...decideUnasked({ tier }, "turn", routing), model, upstream, prices };
  }

  return choose;
}
