import { invalidBody } from "../questions/rejections.ts";
import * as z from "zod/mini";
import { isOfOneToken } from "../token-price.ts";

/** One model of the gateway's price list (contract section 4.2). */
export interface CatalogModel {
  /** `<creator>/<model>`, as other options take it. */
  id: string;
  /** The gateway's word for its purpose, such as `language` or `evaluation`, or null. */
  type: string | null;
  /** Its display name, or null. */
  name: string | null;
  /** Input and output tokens of one call together, or null if unknown. */
  contextWindow: number | null;
  /** US dollars per million input tokens, or null when not listed. */
  inputUsdPerMillionTokens: number | null;
  /** US dollars per million output tokens, or null when not listed. */
  outputUsdPerMillionTokens: number | null;
  /** US dollars per million input tokens that a cache had, or null when not listed. */
  cacheReadUsdPerMillionTokens: number | null;
  /** US dollars per million input tokens that a cache keeps, or null when not listed. */
  cacheWriteUsdPerMillionTokens: number | null;
  /** The unchanged record; its prices are per token, or per million as in the contract. */
  raw: unknown;
}

/** One way the gateway reaches a model (contract section 4.3). */
export interface ModelEndpoint extends Pick<
  CatalogModel,
  "inputUsdPerMillionTokens" | "outputUsdPerMillionTokens" | "raw"
> {
  /** Who serves the model, or null. */
  providerName: string | null;
  /** Zero data retention: a boolean or a word such as `all`, or null. */
  zdr: boolean | string | null;
  /** No training on the data: a boolean or a word such as `all`, or null. */
  noTraining: boolean | string | null;
  /** Whether repeated input is cached automatically: a boolean or a word, or null. */
  supportsImplicitCaching: boolean | string | null;
}

/** The account's balance (contract section 4.4). */
export interface Credits {
  /** Credit left, in US dollars. */
  balanceUsd: number;
  /** Credit used so far, in US dollars. */
  totalUsedUsd: number;
  /** The unchanged record. */
  raw: unknown;
}

// US dollars, printed as a number or a decimal string.
const amountSchema = z
  .union([z.number(), z.string().check(z.regex(/^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i))])
  .check(z.refine((amount) => Number.isFinite(Number(amount) * 1_000_000)));
const price = z.nullish(amountSchema.check(z.refine((amount) => Number(amount) >= 0)));
const flag = z.nullish(z.union([z.boolean(), z.string()]));
const text = z.nullish(z.string());

// Unknown fields pass (field facts).
const modelListSchema = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: text,
      name: text,
      context_window: z.nullish(z.int().check(z.minimum(0))),
      pricing: z.nullish(
        z.looseObject({
          input: price,
          output: price,
          input_cache_read: price,
          input_cache_write: price,
        }),
      ),
    }),
  ),
});

const endpointListSchema = z.looseObject({
  data: z.looseObject({
    endpoints: z.array(
      z.looseObject({
        provider_name: text,
        zdr: flag,
        no_training: flag,
        supports_implicit_caching: flag,
        pricing: z.nullish(z.looseObject({ prompt: price, completion: price })),
      }),
    ),
  }),
});

const creditsSchema = z.looseObject({ balance: amountSchema, total_used: amountSchema });

/** Returns the models of a list. */
export function toModels(json: unknown): CatalogModel[] {
  const { data } = parse(modelListSchema, json);
  const toUsd = perMillion(data.flatMap(({ pricing }) => [pricing?.input, pricing?.output]));
  return data.map((model) => ({
    id: model.id,
    type: model.type ?? null,
    name: model.name ?? null,
    contextWindow: model.context_window || null, // 0 for the evaluation model
    inputUsdPerMillionTokens: toUsd(model.pricing?.input),
    outputUsdPerMillionTokens: toUsd(model.pricing?.output),
    cacheReadUsdPerMillionTokens: toUsd(model.pricing?.input_cache_read),
    cacheWriteUsdPerMillionTokens: toUsd(model.pricing?.input_cache_write),
    raw: model,
  }));
}

/** Returns the providers of a model. */
export function toEndpoints(json: unknown): ModelEndpoint[] {
  const { endpoints } = parse(endpointListSchema, json).data;
  const toUsd = perMillion(endpoints.flatMap(({ pricing: p }) => [p?.prompt, p?.completion]));
  return endpoints.map((endpoint) => ({
    providerName: endpoint.provider_name ?? null,
    zdr: endpoint.zdr ?? null,
    noTraining: endpoint.no_training ?? null,
    supportsImplicitCaching: endpoint.supports_implicit_caching ?? null,
    inputUsdPerMillionTokens: toUsd(endpoint.pricing?.prompt),
    outputUsdPerMillionTokens: toUsd(endpoint.pricing?.completion),
    raw: endpoint,
  }));
}

/** Returns the balance of an account. */
export function toCredits(json: unknown): Credits {
  const { balance, total_used: totalUsed } = parse(creditsSchema, json);
  return { balanceUsd: Number(balance), totalUsedUsd: Number(totalUsed), raw: json };
}

function parse<TSchema extends z.ZodMiniType>(schema: TSchema, json: unknown): z.infer<TSchema> {
  const issue = schema.safeParse(json).error?.issues[0];
  if (issue === undefined) return json as z.infer<TSchema>; // the schemas change nothing
  const path = issue.path.map(String).join(".");
  throw invalidBody("the gateway's", path === "" ? "as a whole" : `at ${path}`, "the base URL");
}

type Price = string | number | null | undefined;

/**
 * Returns what gives US dollars per million tokens, null for null. The contract has prices per million and
 * services list them per token (field facts): the lowest price of a list that is above 0 decides.
 */
function perMillion(prices: readonly Price[]): (price: Price) => number | null {
  const lowest = Math.min(...prices.map((price) => Number(price ?? 0) || Number.POSITIVE_INFINITY));
  const digits = isOfOneToken(lowest) ? 6 : 0;
  return (price) => {
    if (price === null || price === undefined) return null;
    // Moves the decimal point in the text, which rounds nothing: "0.000000042" gives 0.042.
    const [mantissa, exponent = "0"] = String(price).toLowerCase().split("e");
    return Number(`${mantissa}e${Number(exponent) + digits}`);
  };
}
