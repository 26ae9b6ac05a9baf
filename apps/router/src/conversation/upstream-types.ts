/** What differs between the APIs of services that reply. */
interface UpstreamApi {
  /** Returns the address that its provider takes; people add or leave out the version. */
  readonly toBaseUrl: (address: string) => string;
  /** The provider's name in options and metadata. */
  readonly providerName: string;
  /** Whether results of tools are text only. */
  readonly hasTextResults: boolean;
  /** Returns the maker by whose API a model is asked; null if it may be any. */
  readonly makerOf: (model: string) => "openai" | "anthropic" | null;
  /** Returns the place of the marks for a model's cache: the conversation or the body; null for none. */
  readonly marksOf: (model: string) => "conversation" | "body" | null;
  /** The ids of tool calls that it takes, and whether it refuses the same id for a later call. */
  readonly callIds: { readonly form: RegExp; readonly areUnique: boolean };
}

/** The provider's name in the options and metadata of upstreams of the type `openai-chat`. */
export const openAiChatProvider = "upstream";

/** The APIs of services that reply. For a further row, the compiler names the tables of what else it needs. */
export const upstreamTypes = {
  gateway: {
    toBaseUrl: (address) => address,
    providerName: "openai",
    hasTextResults: false,
    // The gateway asks OpenAI's own models by the Responses API, and Anthropic's by the Messages API.
    makerOf: (model) => makers.find((maker) => isOfMaker(model, maker)) ?? null,
    marksOf: (model) => (model.startsWith("anthropic/") ? "conversation" : null),
    callIds: { form: /^[\w-]{1,40}$/, areUnique: true }, // it asks all of them
  },
  "openai-chat": {
    toBaseUrl: withVersion,
    providerName: openAiChatProvider,
    hasTextResults: true,
    makerOf: () => null,
    marksOf: (model) => (isOfAnthropic(model) ? "body" : null),
    callIds: { form: /^.{1,40}$/su, areUnique: false },
  },
  "openai-responses": {
    toBaseUrl: withVersion,
    providerName: "openai",
    hasTextResults: false,
    makerOf: () => "openai",
    marksOf: () => null,
    callIds: { form: /^.{1,64}$/su, areUnique: false },
  },
  anthropic: {
    toBaseUrl: (address) => address.replace(/\/v1$/, ""),
    providerName: "openai",
    hasTextResults: false,
    makerOf: () => "anthropic",
    marksOf: () => "conversation",
    callIds: { form: /^[\w-]+$/, areUnique: true },
  },
} as const satisfies Readonly<Record<string, UpstreamApi>>;

/** The type of an upstream. */
export type UpstreamType = keyof typeof upstreamTypes;

/** An API of services that clients speak too; a type that they do not speak is excluded here. */
export type ClientApiType = Exclude<UpstreamType, "gateway">;

const makers = ["openai", "anthropic"] as const;

function isOfMaker(model: string, maker: string): boolean {
  return model.startsWith(`${maker}/`) && !model.startsWith(`${maker}/gpt-oss`);
}

/** Whether a model's name is one of Anthropic, at whichever service. */
export function isOfAnthropic(model: string): boolean {
  return /\b(?:anthropic|claude)\b/i.test(model);
}

/** People often leave out the `/v1` of OpenAI's APIs. */
function withVersion(address: string): string {
  return new URL(address).pathname === "/" ? `${address}/v1` : address;
}
