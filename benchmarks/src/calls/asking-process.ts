import { PerformanceObserver } from "node:perf_hooks";
import process from "node:process";
import mail from "evaluator-fixtures/exchanges/gateway/consent-alert-first-of-thread.json" with { type: "json" };
import { serveParent } from "evaluator-kit/child";
import { mailState, triageQuestions as questions } from "../sample-requests.ts";
import { type RoundOptions, runRound, type VerifiedCall } from "./run-round.ts";
import { type GivenAnswers, type TargetName, targets, type TargetSetUp } from "./targets.ts";

/** The target and the addresses of a process. */
export interface AskingSetUp extends TargetSetUp {
  readonly target: TargetName;
}

let call: VerifiedCall = () => Promise.reject(new Error("No target is set up."));

const service = {
  async setUp({ target, ...setUp }: AskingSetUp): Promise<void> {
    const ask = await targets[target].open(setUp);
    call = async (number) => verifyMailAnswers(await ask({ state: mailState(number), questions }));
  },
  run: (options: RoundOptions) => runRound(call, options),
  measureAllocation,
};

/**
 * Returns the bytes that a call allocates, buffers included: the growth of the heap over many calls
 * without a collection.
 *
 * @throws Error if the heap was collected meanwhile.
 */
async function measureAllocation(calls: number): Promise<number> {
  const options = { concurrency: 32, maxCalls: calls };
  await runRound(call, options);
  if (globalThis.gc === undefined) throw new Error("The process lacks the allocation flags.");
  globalThis.gc();
  let collections = 0;
  const observer = new PerformanceObserver((list) => (collections += list.getEntries().length));
  observer.observe({ entryTypes: ["gc"] });
  const before = process.memoryUsage();
  const round = await runRound(call, options);
  const after = process.memoryUsage();
  await new Promise((resolve) => setImmediate(resolve)); // the observer hears of collections late
  observer.disconnect();
  if (collections > 0) throw new Error("The heap was collected while it was measured.");
  const allocated = after.heapUsed + after.external - before.heapUsed - before.external;
  return allocated / round.calls;
}

const expected = Object.entries(mail.response.body.answers).map(([id, answer]) => ({
  id,
  value: decisiveValue(answer),
}));

/** Throws unless the answers are those to a mail; cheap enough for every call: one value of each answer. */
function verifyMailAnswers(answers: GivenAnswers): void {
  for (const { id, value } of expected) {
    if (decisiveValue(answers[id] ?? {}) === value) continue;
    const given = JSON.stringify(answers[id]);
    throw new Error(`Not the answer expected to "${id}": ${given} instead of ${String(value)}.`);
  }
}

function decisiveValue(answer: object): unknown {
  const { choice, score, probability, noul } = answer as Record<string, unknown>;
  return choice ?? score ?? probability ?? noul;
}

/** The calls that an asking process takes. */
export type AskingService = typeof service;

serveParent(service);
