import type { CatalogModel } from "./models.ts";
import { pricePerToken, toDollarString } from "./price.ts";

// The emulator knows no release dates; every entry carries the day its list was made.
const listedAt = Date.UTC(2026, 10, 1) / 1000;

/** Returns a model as `GET /v1/models` lists it, prices in US dollars per token (field fact). */
export function modelEntry(model: CatalogModel) {
  return {
    id: model.id,
    object: "model",
    created: listedAt,
    owned_by: model.id.split("/")[0],
    name: model.name,
    description: model.description,
    type: model.type,
    modalities: { input: ["text"], output: ["text"] },
    context_window: model.contextWindow,
    max_tokens: model.maxTokens,
    pricing: tokenPrices(model),
    ...dataHandling(model),
  };
}

/** Returns a model with its endpoints, as `GET /v1/models/{creator}/{model}/endpoints` shows it. */
export function endpointEntry(model: CatalogModel) {
  const { input, output } = tokenPrices(model);
  return {
    id: model.id,
    name: model.name,
    created: listedAt,
    description: model.description,
    endpoints: [
      {
        provider_name: model.provider,
        context_length: model.contextWindow,
        pricing: { prompt: input, completion: output },
        supported_parameters: [],
        ...(model.type === "evaluation" ? dataHandling(model) : noPromise),
        supports_implicit_caching: false,
      },
    ],
  };
}

/**
 * Returns a model as the gateway provider of the `ai` package reads it from `GET /v4/ai/config`.
 */
export function providerEntry(model: CatalogModel) {
  return {
    id: model.id,
    name: model.name,
    description: model.description,
    pricing: tokenPrices(model),
    specification: { specificationVersion: "v4", provider: "gateway", modelId: model.id },
    modelType: model.type,
  };
}

function tokenPrices(model: CatalogModel) {
  return {
    input: toDollarString(pricePerToken(model.inputPerMillion)),
    output: toDollarString(pricePerToken(model.outputPerMillion)),
  };
}

// Every endpoint says something (contract section 4.3), but what a text model's says is not shown:
// the emulator's own word, unverified, promises nothing.
const noPromise = { zdr: "none", no_training: "none" };

// Contract section 1.10 states it for the evaluation model only; the list claims nothing for the others.
function dataHandling({ type }: CatalogModel) {
  return type === "evaluation" ? { zdr: "all", no_training: "all" } : {};
}
