import * as z from "zod/mini";
import { checkOptions, optionsObject, rejectOption } from "../options.ts";
import type { JsonObject } from "../questions/json.ts";

/** How the gateway routes, bills and reports a call; the names are the gateway's own. */
export interface GatewayOptions {
  /** The order in which providers are tried. */
  readonly order?: readonly string[] | undefined;
  /** The only providers that may answer. */
  readonly only?: readonly string[] | undefined;
  /** Sorts providers before routing. */
  readonly sort?: "cost" | "tps" | "ttft" | undefined;
  /** Models that answer if the first one cannot; a condition beside the model is the gateway's own. */
  readonly models?: readonly (string | JsonObject)[] | undefined;
  /** Only providers that keep no data. */
  readonly zeroDataRetention?: boolean | undefined;
  /** Only providers that do not train on prompts. */
  readonly disallowPromptTraining?: boolean | undefined;
  /** Only providers with headquarters in these countries, such as `["US", "DE"]`, or in none of `["!US"]`. */
  readonly headquarters?: readonly string[] | undefined;
  /** The end user, for reports of spending. */
  readonly user?: string | undefined;
  /** Labels for reports of spending. */
  readonly tags?: readonly string[] | undefined;
  /** Whose quota the call counts against. */
  readonly quotaEntityId?: string | undefined;
  /** A slower and cheaper tier, or a faster one. */
  readonly serviceTier?: "flex" | "priority" | undefined;
}

/** Options for the gateway, and for providers behind it under their names. */
export type ProviderOptions = {
  readonly gateway?: GatewayOptions | undefined;
} & { readonly [provider: string]: JsonObject | GatewayOptions | undefined };

const texts = z.optional(z.array(z.string().check(z.minLength(1))));
const text = z.optional(z.string().check(z.minLength(1)));
const schema = z.catchall(
  z.object({
    gateway: z.optional(
      optionsObject({
        order: texts,
        only: texts,
        sort: z.optional(z.enum(["cost", "tps", "ttft"])),
        models: z.optional(z.array(z.union([z.string(), z.record(z.string(), z.json())]))),
        zeroDataRetention: z.optional(z.boolean()),
        disallowPromptTraining: z.optional(z.boolean()),
        headquarters: texts,
        user: text,
        tags: texts,
        quotaEntityId: text,
        serviceTier: z.optional(z.enum(["flex", "priority"])),
      }),
    ),
  }),
  z.record(z.string(), z.json()),
);

/** Throws a `ConfigurationError` for a wrong option: a misspelt one would be ignored by the service. */
export function checkProviderOptions(providerOptions: ProviderOptions): void {
  checkOptions(z.object({ providerOptions: schema }), { providerOptions });
}

/** Returns the options of the transport with those of a call, which win, or undefined if there are none. */
export function mergeProviderOptions(
  own: ProviderOptions | undefined,
  ofCall: ProviderOptions | undefined,
): ProviderOptions | undefined {
  if (own === undefined || ofCall === undefined) return ofCall ?? own;
  const names = new Set([...Object.keys(own), ...Object.keys(ofCall)]);
  return Object.fromEntries([...names].map((name) => [name, { ...own[name], ...ofCall[name] }]));
}

/** A transport that may take options of a call. */
interface OptionsTaker {
  readonly name: string;
  checkProviderOptions?(options: ProviderOptions): void;
}

/** Throws a `ConfigurationError` for options that a transport does not take. */
export function checkOptionsFor(transport: OptionsTaker, providerOptions: ProviderOptions): void {
  if (transport.checkProviderOptions !== undefined)
    return transport.checkProviderOptions(providerOptions);
  rejectOption(
    "providerOptions",
    `cannot be sent by the transport ${transport.name}; leave it out`,
  );
}
