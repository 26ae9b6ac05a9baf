import type { ServiceName } from "../transports/direct/services.ts";

/** What tests know of a service beside its row. */
interface ServiceFixture {
  /** Where a call goes. */
  readonly url: string;
  /** @default authorization */
  readonly keyHeader?: string;
  /** The price of a reply of 1,000 input tokens in US dollars. */
  readonly costUsd: number | null;
  /** The decimals of its answers. @default 15: it does not round */
  readonly decimals?: number;
  /** Whether its `confidence` is the contract's. @default false */
  readonly definesConfidence?: boolean;
  /** Fields of its replies that others of the form do not have. */
  readonly fields?: object;
  /** Puts a reply into its envelope. @default none */
  readonly toReply?: (body: object) => object;
  /** Returns its error body. */
  readonly toError: (status: number, message: string) => object;
}

const usage = { input_tokens: 1000, output_tokens: 0, cost: 0.00005 };
const type = "some_error";

/** A fixture of each service, which all tests of services read. */
export const serviceFixtures: Readonly<Record<ServiceName, ServiceFixture>> = {
  typesafe: {
    url: "https://api.typesafe.ai/v1/systemone",
    costUsd: 0.000042,
    decimals: 2,
    definesConfidence: true,
    toError: (_, message) => ({ detail: { error_type: type, message } }),
  },
  openai: {
    url: "https://api.openai.com/v1/decisions",
    costUsd: 0.0001,
    toError: (_, message) => ({ error: { message, type, code: null, param: null } }),
  },
  gemini: {
    url: "https://generativelanguage.googleapis.com/v1beta/decisions",
    keyHeader: "x-goog-api-key",
    costUsd: 0.0001,
    toError: (code, message) => ({ error: { code, message, status: type, details: [] } }),
  },
  openrouter: {
    url: "https://openrouter.ai/api/alpha/decisions",
    costUsd: 0.00005,
    decimals: 2,
    definesConfidence: true,
    fields: { usage, id: "gen-1", provider: "Any" },
    toError: (code, message) => ({ error: { code, message, metadata: {} }, user_id: "user" }),
  },
  perplexity: {
    url: "https://api.perplexity.ai/v1/decisions",
    costUsd: 0.00002,
    toError: (code, message) => ({ error: { message, type, code } }),
  },
  cloudflare: {
    url: "https://api.cloudflare.com/client/v4/accounts/an-account/ai/run/@cf/cloudflare/clef-flash",
    costUsd: 0.00009,
    decimals: 4,
    toReply: (result) => ({ result, success: true, errors: [], messages: [] }),
    toError: (_, message) => ({ success: false, errors: [{ code: 1234, message }], result: null }),
  },
  fireworks: {
    url: "https://api.fireworks.ai/inference/v1/systemone",
    costUsd: null,
    toError: (_, message) => ({ detail: message }),
  },
  "fireworks-decisions": {
    url: "https://api.fireworks.ai/inference/v1/decisions",
    costUsd: null,
    toError: (_, message) => ({ error: { message, type } }),
  },
};
