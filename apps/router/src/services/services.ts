import type { TransportName } from "evaluator-client";
import type { Environment } from "evaluator-kit";
import type { ReplyListener } from "../reply/reply-fetch.ts";

/** A call of a text model. */
export interface ModelCall {
  readonly listener?: ReplyListener | undefined;
  /** The client's own request in OpenAI's form. */
  readonly body?: Record<string, unknown> | undefined;
}

/** The server that replies. */
export type ReplyServer =
  | {
      readonly kind: "gateway";
      readonly apiKey: string;
      /** Address in front of `/language-model`; undefined for the gateway's own. */
      readonly baseUrl: string | undefined;
      /** For the price list's own options. */
      readonly env: Environment;
    }
  | {
      readonly kind: "openai-compatible";
      readonly apiKey: string | null;
      /** Address in front of `/chat/completions`. */
      readonly baseUrl: string;
    };

/** The services to connect; the emulator replaces each one that is null. */
export interface EngineOptions {
  /** For the options of the evaluator's transport. */
  readonly evaluator: Environment | null;
  readonly reply: ReplyServer | null;
  readonly secrets: readonly string[];
}

const transportUses = {
  gateway: { isEmulatedWithoutKey: true, asksChatModel: false },
  direct: { isEmulatedWithoutKey: false, asksChatModel: false },
  logprobs: { isEmulatedWithoutKey: false, asksChatModel: true },
} satisfies Record<TransportName, object>;

/** Returns how the router uses a transport; null for an unknown name. */
export function transportUse(name: string) {
  if (!Object.hasOwn(transportUses, name)) return null;
  const known = name as TransportName;
  return { ...transportUses[known], name: known };
}
