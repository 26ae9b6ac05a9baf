/** Where a call was to go. */
export interface Route {
  /** What the caller asked for. */
  readonly modelId: string;
  /** What answers in its name. */
  readonly canonicalSlug: string;
  readonly provider: string;
}

/** A call that was answered, in epoch milliseconds. */
export interface AnsweredRoute extends Route {
  readonly startTime: number;
  readonly endTime: number;
}

/** The routing block of an answered call (contract section 2.5). */
export function answeredRouting({ startTime, endTime, ...route }: AnsweredRoute) {
  const { provider } = route;
  const outcome = { success: true, startTime, endTime, statusCode: 200 };
  const attempts = [{ provider, credentialType: "system", ...outcome }];
  return { ...routing(route, attempts), finalProvider: provider };
}

/** The routing block of a call refused before any provider was tried (contract section 7). */
export function refusedRouting(route: Route) {
  return routing(route, []);
}

function routing({ modelId, canonicalSlug, provider }: Route, providerAttempts: readonly object[]) {
  const providerAttemptCount = providerAttempts.length;
  const success = providerAttemptCount > 0;
  return {
    originalModelId: modelId,
    resolvedProvider: provider,
    fallbacksAvailable: [],
    planningReasoning: "The local emulator answers by itself; no provider is called.",
    canonicalSlug,
    modelAttemptCount: 1,
    modelAttempts: [{ canonicalSlug, success, providerAttemptCount, providerAttempts }],
    totalProviderAttemptCount: providerAttemptCount,
  };
}
