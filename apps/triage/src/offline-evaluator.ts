import { createEvaluator, gatewayTransport, type Evaluator } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";

/** Gives an evaluator that the emulator answers, in this process: no key, no network. */
export function offlineEvaluator(): Evaluator {
  const emulator = createEmulator();
  const transport = gatewayTransport({
    apiKey: "offline",
    env: {},
    fetch: (input, init) => emulator.fetch(input, init),
  });
  return createEvaluator({ transport });
}
