import type { Hono } from "hono";
import { tryDecodeURIComponent } from "hono/utils/url";
import { findBest, findCapabilities } from "../decision/capabilities.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import type { Capabilities } from "../reply/upstream.ts";
import type { ClientEnv } from "../routes/client-request.ts";
import { isModel, missingModel, type NamedModels, ownNames } from "./choose-model.ts";
import { apiOfClient, apis } from "./apis.ts";

/** Adds `/v1/models`, in the form of the client's API. */
export function addModelRoutes(app: Hono<ClientEnv>, models: NamedModels): void {
  app.get("/v1/models", (c) => {
    const { modelList } = apiOfClient(c.req);
    const decisionModels = decisionNames(models);
    const listedModels = [
      ...ownNames(models).map((id) => modelList.toReplyModel(id, capabilitiesOfName(id, models))),
      ...decisionModels.map(modelList.toDecisionModel),
    ];
    return c.json(modelList.toList(listedModels, decisionModels));
  });
  app.get("/v1/models/*", (c) => {
    const id = tryDecodeURIComponent(c.req.path.slice("/v1/models/".length));
    const clientApi = apiOfClient(c.req);
    const { modelList, ownHeader } = clientApi;
    const clientApis = ownHeader === null ? apis : [clientApi];
    const isClients =
      models.options.clientModels === "auto" && clientApis.some((api) => api.clientModels.test(id));
    if (isClients || ownNames(models).includes(id) || isModel(id, models)) {
      return c.json(modelList.toReplyModel(id, capabilitiesOfName(id, models)));
    }
    if (decisionNames(models).includes(id)) return c.json(modelList.toDecisionModel(id));
    throw missingModel(models);
  });
}

/** The names of decision models: those of the configuration, and those of the services. */
function decisionNames({ routing }: NamedModels): string[] {
  const { list, models } = routing.services.decisions.current;
  return [...new Set([...models.keys(), ...list.map(({ model }) => model)])];
}

/** Returns the capabilities of the model behind a name; those of `auto` are the best of all tiers. */
function capabilitiesOfName(modelId: string, models: NamedModels): Capabilities {
  const { current, capabilities: listedCapabilities } = models.routing.services.replies;
  const capabilitiesOfTier = (tier: Tier) =>
    findCapabilities(current.tiers[tier].targets[0], listedCapabilities);
  const modelName = current.aliases.get(modelId) ?? modelId;
  const tier = tierNames.find((tierName) => tierName === modelName);
  if (tier !== undefined) return capabilitiesOfTier(tier);
  const replyPlan = isModel(modelName, models) ? current.planOfModel(modelName) : null;
  return replyPlan === null
    ? findBest(tierNames.map(capabilitiesOfTier))
    : findCapabilities(replyPlan.targets[0], listedCapabilities);
}
