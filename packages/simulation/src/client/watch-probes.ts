import type { Admission, Pacer } from "evaluator-client";
import type { World } from "../world.ts";

/** Watches a pacer: after a pause, one call at a time probes whether it is over. */
export function watchProbes(pacer: Pacer, { checks }: World): Pacer {
  let probing = 0;
  const watch = (admission: Admission): Admission => {
    if ((admission.probes ?? null) === null) return admission;
    probing += 1;
    checks.expect("rate", probing === 1, () => `${probing} calls probe a limit at once`);
    return {
      ...admission,
      succeeded(tokensUsed) {
        probing -= 1;
        admission.succeeded(tokensUsed);
      },
      throttled(retryAfterMs, cause) {
        probing -= 1;
        return admission.throttled(retryAfterMs, cause);
      },
      ended() {
        probing -= 1;
        admission.ended();
      },
    };
  };
  return {
    countsTokens: pacer.countsTokens,
    admitNow(tokens) {
      const admission = pacer.admitNow(tokens);
      return admission && watch(admission);
    },
    admit: async (call) => watch(await pacer.admit(call)),
  };
}
