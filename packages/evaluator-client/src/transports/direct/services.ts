/** The names of services that `directTransport` knows, as `service` and `EVALUATOR_TRANSPORT` take them. */
export type ServiceName = keyof typeof rows;

/** One decision service as data; a service that is added later is one row. */
export interface ServiceRow {
  /** Its name in messages. */
  readonly title: string;
  /** Its address; `{account}` stands for the account id. */
  readonly baseUrl: string;
  /** Its path below the address; `{model}` stands for the model. */
  readonly path: string;
  /** The variables of its key, in the order in which they are read. */
  readonly keyVariables: readonly [string, ...string[]];
  /** The header of its key. @default Authorization, as a bearer token */
  readonly keyHeader?: string;
  /** The form of its requests and replies. */
  readonly wire: "systemone" | "decisions" | "gemini";
  /** The model if none is given; null if the service has no usual one. */
  readonly model: string | null;
  /** The most questions, options and levels that it takes. */
  readonly most: { readonly questions?: number; readonly options: number; readonly levels: number };
  /** The fewest options and levels. @default 1 */
  readonly fewest?: number;
  /** The most tokens of a state, by the model's name or its beginning. @default unknown */
  readonly contexts?: Readonly<Record<string, number>>;
  /** What else it requires of a question. */
  readonly rules?: readonly ServiceRule[];
  /** Whether ids other than letters, digits, `_`, `.` and `-` are replaced by numbers. @default false */
  readonly renamesIds?: boolean;
  /** Decimals that it rounds to, by the model's name or its beginning. @default it does not round */
  readonly decimals?: Readonly<Record<string, number>>;
  /** The beginnings of the names of models whose `confidence` is the contract's. @default none */
  readonly confidenceOf?: readonly string[];
  /** US dollars for a million input tokens, by the model's name or its beginning. @default unknown */
  readonly prices?: Readonly<Record<string, number>>;
  /** Whether its replies contain their price. @default false */
  readonly reportsCost?: boolean;
  /** The fields of a request that `providerOptions` of a call may set. @default none */
  readonly callOptions?: readonly string[];
  /** The form of images in a state. @default none */
  readonly images?: "assets" | "images" | "image_url" | "parts";
  /** Requests a minute and tokens a second that every key may send. */
  readonly limits?: { readonly requestsPerMinute?: number; readonly tokensPerSecond?: number };
}

/** A requirement of a service; `service-rules.ts` has the code. */
export type ServiceRule = "both sides" | "descriptions" | "plain keys";

// Every row was read and run against its SDK where one is named, on 2026-11-28; no live service was asked.
const rows = {
  // @typesafe-ai/sdk 0.6.0. The limits are those of one key (contract section 8).
  typesafe: {
    title: "TypeSafe",
    baseUrl: "https://api.typesafe.ai",
    path: "/v1/systemone",
    keyVariables: ["EVALUATOR_DIRECT_API_KEY", "TYPESAFE_API_KEY"],
    wire: "systemone",
    model: "jev-latest",
    most: { options: 255, levels: 10 },
    contexts: { "": 32_000 },
    decimals: { "": 2 },
    confidenceOf: [""],
    prices: { "": 0.042 },
    images: "assets",
    limits: { requestsPerMinute: 1200, tokensPerSecond: 250_000 },
  },
  // openai 7.59.0, resources/decisions. Cached tokens cost as much as others.
  openai: {
    title: "OpenAI",
    baseUrl: "https://api.openai.com",
    path: "/v1/decisions",
    keyVariables: ["OPENAI_API_KEY"],
    wire: "decisions",
    model: "gpt-6-luna",
    most: { questions: 400, options: 255, levels: 10 },
    fewest: 2,
    prices: { "gpt-6-luna": 0.1 },
    images: "parts",
  },
  // @google/genai 3.3.0, decisions.create. The free tier is free of charge, so the price is the most.
  gemini: {
    title: "Google",
    baseUrl: "https://generativelanguage.googleapis.com",
    path: "/v1beta/decisions",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    keyHeader: "x-goog-api-key",
    wire: "gemini",
    model: "gemini-decision-1",
    most: { questions: 1000, options: 255, levels: 255 },
    fewest: 2,
    contexts: { "gemini-decision-": 262_144 },
    rules: ["descriptions", "plain keys"],
    prices: { "gemini-decision-1": 0.1 },
    images: "parts",
  },
  // @openrouter/sdk 1.3.19, alpha.decisions. Its replies contain the price; beforehand it is that of the model's
  // maker, which it passes on (its FAQ and its guide to decisions, read on 2026-11-29).
  openrouter: {
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai",
    path: "/api/alpha/decisions",
    keyVariables: ["OPENROUTER_API_KEY"],
    wire: "systemone",
    model: "typesafe/jev-1.14",
    most: { options: 255, levels: 10 },
    rules: ["both sides"],
    reportsCost: true,
    decimals: { "typesafe/": 2, "cloudflare/": 4 },
    confidenceOf: ["typesafe/"],
    prices: { "typesafe/": 0.042, "cloudflare/clef": 0.24, "cloudflare/clef-flash": 0.09 },
    callOptions: ["provider", "session_id", "trace", "user"],
  },
  // Its documentation; prices of 2026-11-28. No client of it was run, so the model is unverified.
  perplexity: {
    title: "Perplexity",
    baseUrl: "https://api.perplexity.ai",
    path: "/v1/decisions",
    keyVariables: ["PERPLEXITY_API_KEY"],
    wire: "systemone",
    model: "pplx-decider-v1.3",
    most: { questions: 128, options: 255, levels: 10 },
    contexts: { "pplx-decider-": 262_144 },
    prices: { "pplx-decider-v1.": 0.02, "pplx-decider-flash-": 0.01, "pplx-decider-v1-27b": 0.04 },
    images: "image_url",
    limits: { requestsPerMinute: 600 },
  },
  // Its documentation and those of four clients (InstructorPHP, MemberJunction, NeuroLink, yoagent).
  cloudflare: {
    title: "Cloudflare",
    baseUrl: "https://api.cloudflare.com/client/v4/accounts/{account}/ai",
    path: "/run/@cf/cloudflare/{model}",
    keyVariables: ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY", "CLOUDFLARE_AUTH_TOKEN"],
    wire: "systemone",
    model: "clef-flash",
    most: { questions: 64, options: 255, levels: 10 },
    contexts: { "": 65_536 },
    fewest: 2,
    renamesIds: true,
    decimals: { "": 4 },
    prices: { clef: 0.24, "clef-flash": 0.09 },
    images: "images",
  },
  // Its documentation; it bills a deployment by time.
  fireworks: {
    title: "Fireworks",
    baseUrl: "https://api.fireworks.ai/inference",
    path: "/v1/systemone",
    keyVariables: ["FIREWORKS_API_KEY"],
    wire: "systemone",
    model: null,
    most: { options: 208, levels: 10 },
  },
  "fireworks-decisions": {
    title: "Fireworks",
    baseUrl: "https://api.fireworks.ai/inference",
    path: "/v1/decisions",
    keyVariables: ["FIREWORKS_API_KEY"],
    wire: "decisions",
    model: null,
    most: { options: 208, levels: 10 },
    fewest: 2,
  },
} as const satisfies Record<string, ServiceRow>;

/** The decision services by name. */
export const serviceRows: Readonly<Record<ServiceName, ServiceRow>> = rows;

/** The names of the decision services. */
export const services: readonly ServiceName[] = Object.keys(rows) as ServiceName[];
