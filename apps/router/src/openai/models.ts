import type { Handler } from "hono";
import type { Decision } from "../decision/decision.ts";
import { HttpError } from "../http-error.ts";
import type { Call, MessageRouter } from "../message-router.ts";
import type { PriceList } from "../prices/tokens.ts";
import { tierNames } from "../tier-question.ts";
import type { ChatCompletionRequest } from "./chat-completion-schema.ts";
import type { ReadConversation } from "./conversation.ts";

/** What the API calls the choice of the evaluation model. */
const autoModel = "auto";

/** What the models of a request are looked up in. */
export interface ModelNames {
  readonly aliases: ReadonlyMap<string, string>;
  readonly tierModels: Readonly<Record<string, string>>;
  readonly prices: PriceList;
  /** Whether any name may be a model's, or only `provider/model`. */
  readonly takesOpenAi: boolean;
}

function toModel(id: string) {
  return { id, object: "model", created: 0, owned_by: "router" };
}

function ownNames({ aliases }: ModelNames): string[] {
  return [...new Set([autoModel, ...tierNames, ...aliases.keys()])];
}

/** Returns the route `GET /v1/models`: `auto`, each tier under its own name, and the aliases. */
export function modelsRoute(names: ModelNames): Handler {
  return (c) => c.json({ object: "list", data: ownNames(names).map(toModel) });
}

/** Returns the route `GET /v1/models/{id}`: whether a request may name that model. */
export function modelRoute(names: ModelNames): Handler {
  const { tierModels, prices } = names;
  return (c) => {
    const path = c.req.path.slice("/v1/models/".length);
    const id = decoded(path);
    const isOwn = ownNames(names).includes(id) || Object.values(tierModels).includes(id);
    if (isOwn || prices.has(id)) return c.json(toModel(id));
    throw missing(names);
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function missing(names: ModelNames): HttpError {
  const own = ownNames(names).join(", ");
  const other = names.takesOpenAi
    ? "a model of the server that replies"
    : "a model of the gateway as provider/model";
  const message = `There is no such model here; use ${own}, ${other}, or give the name a meaning in ROUTER_MODEL_ALIASES.`;
  return new HttpError(404, message, { param: "model", code: "model_not_found" });
}

/** The decision for a request, and what the evaluation model chooses beside it. */
export interface ChosenModel {
  readonly decision: Decision;
  /** Null where the decision is its choice, or nothing was asked. */
  readonly autoDecision: Promise<Decision> | null;
}

/** What a request is decided by. */
export interface DecisionParts {
  readonly router: MessageRouter;
  readonly call: Call;
  readonly names: ModelNames;
  readonly readConversation: ReadConversation;
  /** The model that replies in place of those that are chosen, or null. */
  readonly shadowModel: string | null;
}

/**
 * Returns the decision for an OpenAI request: by its conversation for `auto`, else the tier or the
 * model that it names.
 *
 * @throws HttpError when there is no such model (404), or nothing to decide by (400).
 */
export async function chooseModel(
  { model: asked, messages }: ChatCompletionRequest,
  { router, call, names, readConversation, shadowModel }: DecisionParts,
): Promise<ChosenModel> {
  const model = names.aliases.get(asked) ?? asked;
  const tier = tierNames.find((name) => name === model);
  if (tier !== undefined) return alone(router.decideTier(tier));
  if (model !== autoModel) {
    if (names.takesOpenAi || model.includes("/")) return alone(router.decideModel(model));
    throw missing(names);
  }
  const conversation = readConversation(messages);
  if (conversation.state.user_message.trim() === "") {
    throw new HttpError(400, "auto decides by the last user message; send one.", {
      param: "messages",
    });
  }
  const keep = (decision: Decision) => {
    if (decision.tierUsed !== null) conversation.keep(decision.tierUsed);
    return decision;
  };
  const { state, atLeast } = conversation;
  if (shadowModel === null) return alone(keep(await router.decide(state, call, atLeast)));
  const autoDecision = router.decideUnrecorded(state, call, atLeast).then(keep);
  autoDecision.catch(() => undefined); // the log says that there was none
  return { decision: router.decideModel(shadowModel, "shadow"), autoDecision };
}

function alone(decision: Decision): ChosenModel {
  return { decision, autoDecision: null };
}
