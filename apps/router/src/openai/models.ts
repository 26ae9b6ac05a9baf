import type { Hono } from "hono";
import { decideModel, decideTier, type Routing } from "../decision/decide.ts";
import { tierNames } from "../decision/tier-question.ts";
import type { Call, MessageRouter } from "../message-router.ts";
import type { PriceList } from "../reply/tokens.ts";
import type { ClientEnv } from "../routes/client-request.ts";
import { HttpError } from "../routes/failures.ts";
import type { ChatCompletionRequest } from "./chat-completion-request.ts";
import type { ReadConversation } from "./conversation.ts";

/** The API's name for the evaluation model's choice. */
const autoModel = "auto";

/** The known model names. */
export interface ModelNames {
  readonly aliases: ReadonlyMap<string, string>;
  readonly tierModels: Readonly<Record<string, string>>;
  readonly prices: PriceList;
  /** Whether any name may be a model, or only `provider/model`. */
  readonly takesOpenAi: boolean;
}

function ownNames({ aliases }: ModelNames): string[] {
  return [...new Set([autoModel, ...tierNames, ...aliases.keys()])];
}

/** Adds `GET /v1/models` (`auto`, the tiers and the aliases) and `GET /v1/models/{id}`. */
export function addModelRoutes(app: Hono<ClientEnv>, names: ModelNames): void {
  app.get("/v1/models", (c) => c.json({ object: "list", data: ownNames(names).map(toModel) }));
  app.get("/v1/models/*", (c) => {
    const id = decoded(c.req.path.slice("/v1/models/".length));
    const known = [...ownNames(names), ...Object.values(names.tierModels)];
    if (known.includes(id) || names.prices.has(id)) return c.json(toModel(id));
    throw missing(names);
  });
}

function toModel(id: string) {
  return { id, object: "model", created: 0, owned_by: "router" };
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

interface DecisionParts {
  readonly router: MessageRouter;
  readonly call: Call;
  readonly names: ModelNames;
  readonly readConversation: ReadConversation;
  readonly routing: Routing;
}

/**
 * Returns the decision for an OpenAI request: the tier or model that it names, or the choice for its
 * conversation; `autoDecision` is that choice if the shadow model replies.
 *
 * @throws HttpError for an unknown model (404), or without a user message (400).
 */
export async function chooseModel(
  { model: asked, messages }: ChatCompletionRequest,
  { router, call, names, readConversation, routing }: DecisionParts,
) {
  const { shadowModel } = routing.policy;
  const model = names.aliases.get(asked) ?? asked;
  const tier = tierNames.find((name) => name === model);
  if (tier !== undefined)
    return { decision: decideTier(tier, "requested", routing), autoDecision: null };
  if (model !== autoModel) {
    if (!names.takesOpenAi && !model.includes("/")) throw missing(names);
    return { decision: decideModel(model, "requested", routing), autoDecision: null };
  }
  const { state, atLeast, keep } = readConversation(messages);
  if (state.user_message.trim() === "") {
    throw new HttpError(400, "auto decides by the last user message; send one.", {
      param: "messages",
    });
  }
  const isShadow = shadowModel !== null;
  const autoDecision = router.decide(state, call, { atLeast, isShadow }).then((decision) => {
    if (decision.tierUsed !== null) keep(decision.tierUsed);
    return decision;
  });
  if (!isShadow) return { decision: await autoDecision, autoDecision: null };
  autoDecision.catch(() => undefined); // the log records that it failed
  return { decision: decideModel(shadowModel, "shadow", routing), autoDecision };
}
