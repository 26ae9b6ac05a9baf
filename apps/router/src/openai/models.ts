import { createHash } from "node:crypto";
import type { Hono } from "hono";
import { cutText } from "evaluator-client";
import { decideModel, decideTier, type Routing } from "../decision/decide.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { Call, MessageRouter } from "../message-router.ts";
import { type ClientEnv, cutMessage } from "../routes/client-request.ts";
import { HttpError } from "../routes/failures.ts";
import type { ChatCompletionMessage, ChatCompletionRequest } from "./chat-completion-request.ts";
import type { ContextMode, TierState } from "../decision/decision.ts";
import { textOf } from "./to-reply-request.ts";

/** The API's name for the evaluation model's choice. */
const autoModel = "auto";

/** The parts that choose a model. */
export interface ModelParts {
  readonly router: MessageRouter;
  readonly routing: Routing;
  readonly aliases?: ReadonlyMap<string, string>;
}

function ownNames({ aliases }: ModelParts): string[] {
  return [...new Set([autoModel, ...tierNames, ...(aliases?.keys() ?? [])])];
}

/** Adds `GET /v1/models` (`auto`, the tiers and the aliases) and `GET /v1/models/{id}`. */
export function addModelRoutes(app: Hono<ClientEnv>, parts: ModelParts): void {
  const { tierModels, prices } = parts.routing;
  app.get("/v1/models", (c) => c.json({ object: "list", data: ownNames(parts).map(toModel) }));
  app.get("/v1/models/*", (c) => {
    const id = decoded(c.req.path.slice("/v1/models/".length));
    const known = [...ownNames(parts), ...Object.values(tierModels)];
    if (known.includes(id) || prices.has(id)) return c.json(toModel(id));
    throw missing(parts);
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

function missing(parts: ModelParts): HttpError {
  const own = ownNames(parts).join(", ");
  const other = parts.routing.services.takesOpenAi
    ? "a model of the server that replies"
    : "a model of the gateway as provider/model";
  const message = `There is no such model here; use ${own}, ${other}, or give the name a meaning in ROUTER_MODEL_ALIASES.`;
  return new HttpError(404, message, { param: "model", code: "model_not_found" });
}

/** Returns the decision for a request. @throws HttpError for a wrong model (404) or no text (400). */
export async function chooseModel(
  { model: asked, messages }: ChatCompletionRequest,
  call: Call,
  { readConversation, ...parts }: ModelParts & { readConversation: ReadConversation },
) {
  const { router, routing, aliases } = parts;
  const { shadowModel } = routing.policy;
  const model = aliases?.get(asked) ?? asked;
  const tier = tierNames.find((name) => name === model);
  if (tier !== undefined)
    return { decision: decideTier(tier, "requested", routing), autoDecision: null };
  if (model !== autoModel) {
    if (!routing.services.takesOpenAi && !model.includes("/")) throw missing(parts);
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

/** Reads the part of a conversation that decides. */
export type ReadConversation = ReturnType<typeof createConversationReader>;

/** Characters of earlier turns: about 500 tokens, as many as the rest of a decision. */
const EARLIER_TURNS_LENGTH = 2000;

/** The most remembered conversations; the oldest is forgotten. Chosen: a day of many people. */
const MOST_CONVERSATIONS = 10_000;

/** Creates the reader of a context mode; in the mode `sticky`, it remembers each conversation's tier. */
export function createConversationReader(mode: ContextMode) {
  const tiers = new Map<string, Tier>();
  const keep = (key: string, tier: Tier) => {
    tiers.delete(key);
    tiers.set(key, tier);
    const [oldest] = tiers.keys();
    if (tiers.size > MOST_CONVERSATIONS && oldest !== undefined) tiers.delete(oldest);
  };
  return (messages: readonly ChatCompletionMessage[]) => {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const state: TierState = {
      user_message: last === -1 ? "" : cutMessage(textOf(messages[last]?.content)),
    };
    if (mode !== "sticky") {
      const earlier_turns =
        mode === "turns" ? earlierTurns(messages.slice(0, Math.max(0, last))) : "";
      const all = earlier_turns === "" ? state : { ...state, earlier_turns };
      return { state: all, atLeast: null, keep: () => undefined };
    }
    const said = messages.filter(({ role }) => role === "user");
    const known = new Set([said.slice(0, -1), said].map((part) => tiers.get(keyOf(part))));
    return {
      state,
      /** The lowest tier that may be used; null for any. */
      atLeast: tierNames.findLast((tier) => known.has(tier)) ?? null,
      /** Remembers the tier that was used. */
      keep: (tier: Tier) => keep(keyOf(said), tier),
    };
  };
}

/** The newest turns whole, the oldest one cut. */
function earlierTurns(messages: readonly ChatCompletionMessage[]): string {
  const turns: string[] = [];
  let left = EARLIER_TURNS_LENGTH;
  for (const { role, content } of messages.toReversed()) {
    const text = role === "user" || role === "assistant" ? textOf(content) : "";
    if (text.trim() === "") continue;
    const turn = cutText(`${role}: ${text}`, left);
    left -= turn.length + 1;
    turns.unshift(turn);
    if (left <= 0) break;
  }
  return turns.join("\n");
}

/** Identifies a conversation by its user's messages, which the next request repeats. */
function keyOf(said: readonly ChatCompletionMessage[]): string {
  const hash = createHash("sha256");
  for (const { content } of said) {
    const text = textOf(content);
    hash.update(`${text.length}:${text}`);
  }
  return said.length === 0 ? "" : hash.digest("base64");
}
