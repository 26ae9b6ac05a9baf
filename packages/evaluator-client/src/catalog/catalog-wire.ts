import * as z from "zod";
import { InvalidRequestError } from "../errors.ts";
import { quoteName } from "../questions/quote-name.ts";

/** The paths under the gateway's host root (contract sections 4.2 to 4.4, field facts). */
export const catalogPaths = {
  models: "/v1/models",
  endpoints: (creator: string, model: string) => `/v1/models/${creator}/${model}/endpoints`,
  credits: "/v1/credits",
};

/** The headers that carry the key (contract section 5). */
export function keyHeaders(apiKey: string): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}`, "ai-gateway-auth-method": "api-key" };
}

/** US dollars, printed as a number or a decimal string. */
const amountSchema = z
  .union([z.number(), z.string().regex(/^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i)])
  .refine((amount) => Number.isFinite(Number(amount) * 1_000_000));
const priceSchema = amountSchema.refine((price) => Number(price) >= 0);
const flagSchema = z.union([z.boolean(), z.string()]).nullish();

/** The price list, prices per token; anything else in it passes (field facts). */
export const modelListSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string().nullish(),
      name: z.string().nullish(),
      context_window: z.int().min(0).nullish(),
      pricing: z
        .looseObject({ input: priceSchema.nullish(), output: priceSchema.nullish() })
        .nullish(),
    }),
  ),
});

/** The endpoints of one model, prices per token; anything else in it passes (field facts). */
export const endpointListSchema = z.looseObject({
  data: z.looseObject({
    endpoints: z.array(
      z.looseObject({
        provider_name: z.string().nullish(),
        zdr: flagSchema,
        no_training: flagSchema,
        supports_implicit_caching: flagSchema,
        pricing: z
          .looseObject({ prompt: priceSchema.nullish(), completion: priceSchema.nullish() })
          .nullish(),
      }),
    ),
  }),
});

/** The balance: numbers in the contract, strings in the field. */
export const creditsSchema = z.looseObject({ balance: amountSchema, total_used: amountSchema });

/**
 * The path of a model's endpoints (contract section 4.3).
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
