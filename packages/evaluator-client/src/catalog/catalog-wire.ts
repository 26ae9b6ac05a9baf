import * as z from "zod/mini";
import { InvalidRequestError, InvalidResponseError } from "../errors.ts";
import { quoteName } from "../questions/json.ts";
import type { CatalogModel, Credits, ModelEndpoint } from "./catalog.ts";

/** The paths under the gateway's host root (contract sections 4.2 to 4.4, field facts). */
export const catalogPaths = {
  models: "/v1/models",
  endpoints: (creator: string, model: string) => `/v1/models/${creator}/${model}/endpoints`,
  credits: "/v1/credits",
};

/** Returns the headers that carry the key (contract section 5). */
export function keyHeaders(apiKey: string): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}`, "ai-gateway-auth-method": "api-key" };
}

/** US dollars, printed as a number or a decimal string. */
const amountSchema = z
  .union([z.number(), z.string().check(z.regex(/^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i))])
  .check(z.refine((amount) => Number.isFinite(Number(amount) * 1_000_000)));
const priceSchema = amountSchema.check(z.refine((price) => Number(price) >= 0));
const flagSchema = z.nullish(z.union([z.boolean(), z.string()]));

/** The price list, prices per token; anything else in it passes (field facts). */
const modelListSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: z.nullish(z.string()),
      name: z.nullish(z.string()),
      context_window: z.nullish(z.int().check(z.minimum(0))),
      pricing: z.nullish(
        z.looseObject({ input: z.nullish(priceSchema), output: z.nullish(priceSchema) }),
      ),
    }),
  ),
});

/** The endpoints of one model, prices per token; anything else in it passes (field facts). */
const endpointListSchema = z.looseObject({
  data: z.looseObject({
    endpoints: z.array(
      z.looseObject({
        provider_name: z.nullish(z.string()),
        zdr: flagSchema,
        no_training: flagSchema,
        supports_implicit_caching: flagSchema,
        pricing: z.nullish(
          z.looseObject({ prompt: z.nullish(priceSchema), completion: z.nullish(priceSchema) }),
        ),
      }),
    ),
  }),
});

/** The balance: numbers in the contract, strings in the field. */
const creditsSchema = z.looseObject({ balance: amountSchema, total_used: amountSchema });

/**
 * Returns the path of a model's endpoints (contract section 4.3).
 *
 * @throws InvalidRequestError when the id is not two path segments.
 */
export function endpointsPath(modelId: string): string {
  const segments = modelId.split("/");
  const [creator = "", model = ""] = segments.filter(isSegment).map(encodeURIComponent);
  if (segments.length === 2 && creator !== "" && model !== "") {
    return catalogPaths.endpoints(creator, model);
  }
  const message = `The model id ${quoteName(modelId)} is not of the form creator/model; listModels gives the ids.`;
  throw new InvalidRequestError(message);
}

/** A URL drops the segments `.` and `..`, and has no lone surrogates. */
function isSegment(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== ".." && segment.isWellFormed();
}

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

function parse<TSchema extends z.ZodMiniType>(schema: TSchema, json: unknown): z.infer<TSchema> {
  const issue = schema.safeParse(json).error?.issues[0];
  if (issue === undefined) return json as z.infer<TSchema>; // the schemas change nothing
  const where = issue.path.map(String).join(".") || "the body as a whole";
  const message = `The gateway's answer does not have the expected shape at ${where}; check the base URL.`;
  throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

/**
 * Returns the price of a million tokens, from the decimal price of one: `"0.000000042"` gives
 * 0.042. The decimal point is moved in the text, so nothing is rounded on the way; null stays null.
 */
export function usdPerMillionTokens(usdPerToken: string | number | null | undefined) {
  if (usdPerToken === null || usdPerToken === undefined) return null;
  const [digits, exponent = "0"] = String(usdPerToken).toLowerCase().split("e");
  return Number(`${digits}e${Number(exponent) + 6}`);
}
