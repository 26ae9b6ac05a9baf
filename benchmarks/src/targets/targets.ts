import type { OpenTarget } from "./target.ts";

/** A row of the table. */
export interface TargetDescription {
  readonly title: string;
  /** Loads the file of the target's library, and no other library. */
  readonly load: () => Promise<OpenTarget>;
  /** Whether it measures this SDK. */
  readonly isOwn?: true;
}

/** Every way to ask that is measured, in the order of the table. */
export const targets = {
  undici: {
    title: "undici `request` + `JSON.parse`",
    load: async () => (await import("./raw-undici.ts")).openUndiciRequest,
  },
  dispatch: {
    title: "undici `dispatch`, own handler",
    load: async () => (await import("./raw-undici.ts")).openUndiciDispatch,
  },
  fetch: {
    title: "global `fetch`",
    load: async () => (await import("./global-fetch.ts")).openGlobalFetch,
  },
  "sdk-gateway": {
    title: "this SDK, gateway, undici",
    load: async () => (await import("./own-client.ts")).openOwnGateway,
    isOwn: true,
  },
  "sdk-gateway-new-questions": {
    title: "this SDK, gateway, undici, questions built for each call",
    load: async () => (await import("./own-client.ts")).openOwnGatewayWithNewQuestions,
    isOwn: true,
  },
  "sdk-gateway-fetch": {
    title: "this SDK, gateway, `fetch`",
    load: async () => (await import("./own-client.ts")).openOwnGatewayOverFetch,
    isOwn: true,
  },
  "sdk-direct": {
    title: "this SDK, direct, undici",
    load: async () => (await import("./own-client.ts")).openOwnDirect,
    isOwn: true,
  },
  "sdk-direct-fetch": {
    title: "this SDK, direct, `fetch`",
    load: async () => (await import("./own-client.ts")).openOwnDirectOverFetch,
    isOwn: true,
  },
  vendor: {
    title: "vendor's SDK 0.6.0, `systemOne`",
    load: async () => (await import("./vendor-sdk.ts")).openVendorSdk,
  },
  ai: {
    title: "`ai` 7.0.173, `experimental_decide`",
    load: async () => (await import("./ai-decide.ts")).openAiDecide,
  },
} as const satisfies Record<string, TargetDescription>;

/** The name of a target. */
export type TargetName = keyof typeof targets;

/** All names, in the order of the table. */
export const targetNames = Object.keys(targets) as readonly TargetName[];

/** What every other target is compared with: the raw call, and this SDK as most people use it. */
export const references = { raw: "undici", sdk: "sdk-gateway" } as const satisfies Record<
  string,
  TargetName
>;
