import { imagesAsBytes } from "../../questions/state.ts";
import type { PostedService } from "../post-transport.ts";

/** What is known of a form of the direct wire before a call; its code is loaded by the first call. */
export interface FormFacts extends Pick<PostedService, "facts" | "imageHeaders"> {
  /** The path under the base URL. */
  readonly path: string;
  /** The base URL and model if none is given. */
  readonly baseUrl?: string;
  readonly model?: string;
}

/** The forms of the direct wire by the name in the option `wire`. */
export const forms = {
  // The vendor's own (contract sections 2.6 and 4.5).
  systemone: {
    path: "/v1/systemone",
    baseUrl: "https://api.typesafe.ai",
    model: "jev-latest",
    facts: {
      // The limits of one key (contract section 8).
      limits: { requestsPerMinute: 1200, tokensPerSecond: 250_000 },
      // From its model 1.14 on, as an experiment that a header turns on (third parties' clients; unverified).
      images: { ...imagesAsBytes, formats: ["png", "jpeg"], findsBoxes: true },
    },
    imageHeaders: { "TypeSafe-Danger-Zone-Images": "true" },
  },
  // OpenAI's, which SGLang and vLLM have too; images in data: URLs or at an address (OpenAI's reference).
  decisions: {
    path: "/v1/decisions",
    facts: { images: { ...imagesAsBytes, takesAddresses: true } },
  },
  // Google's.
  gemini: { path: "/v1beta/decisions", facts: { images: imagesAsBytes } },
} satisfies Record<string, FormFacts>;

/** The form of the direct wire. */
export type DirectWire = keyof typeof forms;
