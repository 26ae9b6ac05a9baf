import { createEvaluator } from "../create-evaluator.ts";
import type { EvaluateOptions } from "../evaluator-options.ts";
import { type Bounds, escalate, type EscalateOptions } from "../middleware/escalate.ts";
import { boolean } from "../questions/kinds.ts";
import { answeringTransport } from "./answering-transport.ts";
import { ManualClock } from "./manual-clock.ts";

/** Two questions about a letter. */
export const questions = { scam: boolean("Is it a scam?"), deal: boolean("Is it a deal?") };
/** The request of {@link escalating}. */
export const request = { state: "a letter", questions };

type Played = Partial<Parameters<typeof answeringTransport>[0]>;

/** Two evaluators on one clock; the first is unsure whether it is a scam. */
export function escalating({
  first = {},
  second = {},
  bounds = { scam: { below: 0.8 } },
  ...options
}: {
  first?: Played;
  second?: Played;
  bounds?: Bounds;
} & EscalateOptions = {}) {
  const clock = new ManualClock();
  const one = answeringTransport({ answers: { scam: 0.6, deal: 0.99 }, ...first });
  const other = answeringTransport({
    name: "second",
    answers: { scam: 0.97, deal: 0.5 },
    costUsd: 0.01,
    ...second,
  });
  const next = createEvaluator({ transport: other.transport, maxRetries: 0 }, { clock });
  const own = createEvaluator({ transport: one.transport, maxRetries: 0 }, { clock });
  const evaluator = own.with(escalate(next, bounds, options));
  const ask = (options: EvaluateOptions = {}) => evaluator.evaluate(request, options);
  return { clock, evaluator, next, ask, asked: one.asked, askedAgain: other.asked };
}
