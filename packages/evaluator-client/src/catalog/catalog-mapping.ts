import type * as z from "zod";
import { InvalidResponseError } from "../errors.ts";
import type { CatalogModel, Credits, ModelEndpoint } from "./catalog.ts";
import { creditsSchema, endpointListSchema, modelListSchema } from "./catalog-wire.ts";

/** Reads the price list. */
export function fromModelList(json: unknown): CatalogModel[] {
  return parse(modelListSchema, json).data.map((model) => ({
    id: model.id,
    type: model.type ?? null,
    name: model.name ?? null,
    contextWindow: model.context_window || null, // the evaluation model's is printed as 0
    inputUsdPerMillionTokens: usdPerMillionTokens(model.pricing?.input),
    outputUsdPerMillionTokens: usdPerMillionTokens(model.pricing?.output),
    raw: model,
  }));
}

/** Reads the endpoints of one model. */
export function fromEndpointList(json: unknown): ModelEndpoint[] {
  return parse(endpointListSchema, json).data.endpoints.map((endpoint) => ({
    providerName: endpoint.provider_name ?? null,
    zdr: endpoint.zdr ?? null,
    noTraining: endpoint.no_training ?? null,
    supportsImplicitCaching: endpoint.supports_implicit_caching ?? null,
    inputUsdPerMillionTokens: usdPerMillionTokens(endpoint.pricing?.prompt),
    outputUsdPerMillionTokens: usdPerMillionTokens(endpoint.pricing?.completion),
    raw: endpoint,
  }));
}

/** Reads the balance. */
export function fromCredits(json: unknown): Credits {
  const { balance, total_used: totalUsed } = parse(creditsSchema, json);
  return { balanceUsd: Number(balance), totalUsedUsd: Number(totalUsed), raw: json };
}

function parse<TSchema extends z.ZodType>(schema: TSchema, json: unknown): z.infer<TSchema> {
  const issue = schema.safeParse(json).error?.issues[0];
  if (issue === undefined) return json as z.infer<TSchema>; // as it came: the schemas change nothing
  const where = issue.path.map(String).join(".") || "the body as a whole";
  const message = `The gateway's answer does not have the expected shape at ${where}; check the base URL.`;
  throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

/**
 * The price of a million tokens, from the decimal price of one: `"0.000000042"` gives 0.042. The
 * decimal point is moved in the text, so nothing is rounded on the way; null stays null.
 */
export function usdPerMillionTokens(usdPerToken: string | number | null | undefined) {
  if (usdPerToken === null || usdPerToken === undefined) return null;
  const [digits, exponent = "0"] = String(usdPerToken).toLowerCase().split("e");
  return Number(`${digits}e${Number(exponent) + 6}`);
}
