import type { Context, Hono } from "hono";
import { tryDecodeURIComponent } from "hono/utils/url";
import type { Routing } from "../decision/decide.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { Target } from "../reply/upstream.ts";
import type { RouterOptions } from "../router-options.ts";
import type { ClientEnv } from "../routes/client-request.ts";
import { HttpError } from "../http-error.ts";
import type { Api } from "./api.ts";

/** The parts that give names of models a meaning. */
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

/** Returns the names that the router gives a meaning. */
function ownNames({ routing }: NamedModels): string[] {
  const { aliases } = routing.services.replies.current;
  return [...new Set([autoModel, ...tierNames, ...aliases.keys()])];
}

/** Returns a 404 that lists the models. */
function missingModel(parts: NamedModels): HttpError {
  const message = `There is no such model here; use ${ownNames(parts).join(", ")}, a model of the configuration, or of the gateway as provider/model, or give the name a meaning in ROUTER_MODEL_ALIASES.`;
  return new HttpError(404, message, { param: "model", code: "model_not_found" });
}

/** A name's meaning: the evaluation model's choice, the cheapest tier, a named tier, or a model. */
type Meaning = "auto" | "cheapest" | { readonly tier: Tier } | { readonly target: Target };

/** Returns the meaning of the name that a client sent. @throws HttpError (404) */
export function meaningOf(asked: string, api: Api, models: NamedModels): Meaning {
  const { routing, options } = models;
  const { current } = routing.services.replies;
  const name = current.aliases.get(asked) ?? asked;
  if (name === autoModel) return name;
  const tier = tierNames.find((each) => each === name);
  if (tier !== undefined) return { tier };
  const isModel = current.isConfigured(name) || routing.prices.has(name);
  if (!isModel && options.clientModels === "auto" && api.clientModels.test(name)) {
    return smallModel.test(name) ? "cheapest" : autoModel;
  }
  return targetOf(name, models);
}

/** Returns the model of a name that is no tier's. @throws HttpError (404) */
export function targetOf(name: string, models: NamedModels): { readonly target: Target } {
  const { current } = models.routing.services.replies;
  const plan = headerText.test(name) ? current.planOfModel(name) : null;
  if (plan === null) throw missingModel(models);
  return { target: plan.targets[0] };
}

/** Adds `/v1/models`, in Anthropic's form for a request with `anthropic-version`. */
export function addModelRoutes(app: Hono<ClientEnv>, models: NamedModels): void {
  app.get("/v1/models", (c) => {
    const data = ownNames(models).map((id) => toModel(c, id));
    if (!isAnthropic(c)) return c.json({ object: "list", data });
    return c.json({ data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id });
  });
  app.get("/v1/models/*", (c) => {
    const id = tryDecodeURIComponent(c.req.path.slice("/v1/models/".length));
    const { prices, services } = models.routing;
    const isKnown = ownNames(models).includes(id) || prices.has(id);
    if (isKnown || services.replies.current.isConfigured(id)) return c.json(toModel(c, id));
    throw missingModel(models);
  });
}

function isAnthropic(c: Context): boolean {
  return c.req.header("anthropic-version") !== undefined;
}

function toModel(c: Context, id: string) {
  return isAnthropic(c)
    ? { type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" }
    : { id, object: "model", created: 0, owned_by: "router" };
}
