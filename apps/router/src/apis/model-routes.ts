import type { Context, Hono } from "hono";
import { tryDecodeURIComponent } from "hono/utils/url";
import { withoutUndefined } from "../conversation/conversation.ts";
import { findBest, findCapabilities } from "../decision/capabilities.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { Capabilities } from "../reply/upstream.ts";
import type { ClientEnv } from "../routes/client-request.ts";
import { isModel, missingModel, type NamedModels, ownNames } from "./choose-model.ts";
import { apis } from "./errors.ts";

/** Adds `/v1/models`, in Anthropic's form for a request with `anthropic-version`. */
export function addModelRoutes(app: Hono<ClientEnv>, models: NamedModels): void {
  app.get("/v1/models", (c) => {
    const decisions = decisionNames(models);
    const data = [
      ...ownNames(models).map((id) => toReplyModel(c, id, models)),
      ...decisions.map((id) => toDecisionModel(c, id)),
    ];
    // The vendor's clients read the second list.
    const cards = decisions.map((name) => ({
      name,
      description: DECISION_MODEL,
      release_date: "",
    }));
    if (!isAnthropic(c)) return c.json({ object: "list", data, models: cards });
    return c.json({ data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id });
  });
  app.get("/v1/models/*", (c) => {
    const id = tryDecodeURIComponent(c.req.path.slice("/v1/models/".length));
    const mayAsk = apis.filter(({ ownHeader }) => ownHeader !== null || !isAnthropic(c));
    const isClients =
      models.options.clientModels === "auto" && mayAsk.some((api) => api.clientModels.test(id));
    if (isClients || ownNames(models).includes(id) || isModel(id, models)) {
      return c.json(toReplyModel(c, id, models));
    }
    if (decisionNames(models).includes(id)) return c.json(toDecisionModel(c, id));
    throw missingModel(models);
  });
}

/** The names of decision models: those of the configuration, and those of the services. */
function decisionNames({ routing }: NamedModels): string[] {
  const { list, models } = routing.services.decisions.current;
  return [...new Set([...models.keys(), ...list.map(({ model }) => model)])];
}

function isAnthropic(c: Context): boolean {
  return c.req.header("anthropic-version") !== undefined;
}

function toModel(c: Context, id: string) {
  return isAnthropic(c)
    ? { type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" }
    : { id, object: "model", created: 0, owned_by: "router" };
}

const DECISION_MODEL = "Decision model; it answers typed questions.";

/** The gateway's list has the type too. */
function toDecisionModel(c: Context, id: string) {
  if (!isAnthropic(c)) return { ...toModel(c, id), type: "decision" };
  return { ...toModel(c, id), display_name: `${id} (decision model)` };
}

/** Describes a text model and its known capabilities, in Anthropic's form or with the gateway's names. */
function toReplyModel(c: Context, id: string, models: NamedModels) {
  const { contextWindow, maxOutputTokens, ...able } = capabilitiesOfName(id, models);
  if (!isAnthropic(c)) {
    const sizes = withoutUndefined({ context_window: contextWindow, max_tokens: maxOutputTokens });
    return { ...toModel(c, id), ...sizes, capabilities: able };
  }
  return {
    ...toModel(c, id),
    ...withoutUndefined({ max_input_tokens: contextWindow, max_tokens: maxOutputTokens }),
  };
}

/** Returns the capabilities of the model behind a name; those of `auto` are the best of all tiers. */
function capabilitiesOfName(id: string, models: NamedModels): Capabilities {
  const { current, capabilities: listedCapabilities } = models.routing.services.replies;
  const ofTier = (tier: Tier) =>
    findCapabilities(current.tiers[tier].targets[0], listedCapabilities);
  const name = current.aliases.get(id) ?? id;
  const tier = tierNames.find((each) => each === name);
  if (tier !== undefined) return ofTier(tier);
  const plan = isModel(name, models) ? current.planOfModel(name) : null;
  return plan === null
    ? findBest(tierNames.map(ofTier))
    : findCapabilities(plan.targets[0], listedCapabilities);
}
