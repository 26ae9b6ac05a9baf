import { redactor } from "../security/redactor.ts";
import { emulatedEngines } from "./emulator-services.ts";
import { connectEvaluation } from "./evaluation-engine.ts";
import { connectReplies } from "./reply-engine.ts";
import type { EngineOptions, Services, Tracing } from "./services.ts";
import type { SharedLimit } from "./shared-limit.ts";

/**
 * Returns who decides and who replies; the emulator in this process, with no key and no network,
 * stands in for whom the settings do not name.
 *
 * @throws ConfigurationError when the environment does not say how to reach the evaluation model.
 */
export function connectServices(
  { evaluator: env, reply, secrets }: EngineOptions,
  {
    sharedLimit = null,
    tracing = null,
  }: { sharedLimit?: SharedLimit | null; tracing?: Tracing | null } = {},
): Services {
  globalThis.AI_SDK_LOG_WARNINGS = false; // the `ai` package would print them on the console
  const emulator = emulatedEngines(tracing);
  const evaluation =
    env === null ? emulator.evaluation : connectEvaluation(env, { sharedLimit, tracing });
  const replies = reply === null ? emulator.replies : connectReplies(reply);
  const { decider } = evaluation;
  const { replier } = replies;
  const missing = [env === null ? "Decisions" : "", reply === null ? "Replies" : ""];
  const emulated = missing.filter((part) => part !== "");
  return {
    ...evaluation,
    ...replies,
    redact: redactor(secrets),
    tracing,
    notice: describeEngines({ decider, replier, emulated }),
    isEmulated: emulated.length > 0,
  };
}

interface Engines {
  readonly decider: string;
  readonly replier: string;
  /** What the emulator does. */
  readonly emulated: readonly string[];
}

const ownServer = "EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL";

function describeEngines({ decider, replier, emulated: [part, ...rest] }: Engines): string {
  if (rest.length > 0) {
    return `Answers come from the local emulator, not from a model: set AI_GATEWAY_API_KEY to use the real service, or ${ownServer} to use a server of your own.`;
  }
  const who = `Decisions are asked of ${decider}. Replies come from ${replier}`;
  if (part === undefined) return `${who}.`;
  const variable = part === "Replies" ? "ROUTER_REPLY_BASE_URL" : "EVALUATOR_TRANSPORT";
  return `${who}. ${part} of the emulator are no model's: set AI_GATEWAY_API_KEY or ${variable}.`;
}
