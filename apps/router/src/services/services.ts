import type { LanguageModel } from "ai";
import type { Environment } from "evaluator-cli-kit";
import type { Catalog, Evaluator } from "evaluator-client";
import type { ReplyListener } from "../reply/reply-fetch.ts";
import type { Redact } from "../security/redactor.ts";

/** Everything outside the router: who decides, who replies, and what must not be told. */
export interface Services {
  /** Chooses the tier. */
  readonly evaluator: Evaluator;
  /** Returns the text model with this id, whose streamed text goes to the listener. */
  readonly languageModel: (modelId: string, listener?: ReplyListener) => LanguageModel;
  /** Lists models and prices. */
  readonly catalog: Catalog;
  /** Takes the keys in use out of a text. */
  readonly redact: Redact;
  /** Who answers, as a sentence for a person. */
  readonly notice: string;
  /** Whether the emulator on this machine answers. */
  readonly isEmulated: boolean;
  /** Lets go of everything held open. */
  readonly close: () => Promise<void>;
}

/** How to reach the gateway. */
export interface GatewayOptions {
  /** The gateway key. */
  readonly apiKey: string;
  /** Address in front of `/language-model`; the gateway's own when undefined. */
  readonly baseUrl: string | undefined;
  /** What `createEvaluator` reads its own options from. */
  readonly env: Environment;
}
