import { createEvaluator } from "../create-evaluator.ts";
import { boolean } from "../questions/question.ts";
import { sleep } from "../retry/attempt.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { LimitedService, seededRandom, type ServiceLimit } from "./limited-service.ts";
import { ManualClock } from "./manual-clock.ts";

/** How much a simulated run asks, and with how many calls at once. */
export interface Load {
  readonly items: number;
  readonly concurrency: number;
  readonly seed?: number;
}

// As short as may be: what is simulated is time, and every call is checked as always.
const request = { state: "A mail.", questions: { scam: boolean("Is it a scam?") } };
const answer = JSON.stringify({
  answers: { scam: { type: "boolean", probability: 0.04 } },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 336, outputTokens: 3 },
  warnings: [],
  providerMetadata: {},
});

/** Asks items of a service that limits, in one batch and in simulated time. */
export async function simulateBatch(limit: ServiceLimit, { items, concurrency, seed = 7 }: Load) {
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const service = new LimitedService(clock, random, limit);
  const fetch = () => service.answer(answer);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluator = createEvaluator({ transport }, { clock, random });
  const requests = Array.from({ length: items }, () => request);
  const batch = evaluator.evaluateMany(requests, { concurrency });
  await untilDone(clock, async () => {
    while (!(await batch.next()).done);
  });
  return { service, totals: batch.totals, elapsedMs: clock.now() };
}

/** Asks as many of the same service in a plain loop, in which each call retries by itself. */
export async function simulatePlainLoop(
  limit: ServiceLimit,
  { items, concurrency, seed = 7 }: Load,
) {
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const service = new LimitedService(clock, random, limit);
  let asked = 0;
  const work = async () => {
    for (; asked < items;) {
      asked += 1;
      for (let response = await service.answer("{}"); response.status === 429;) {
        await sleep(Number(response.headers.get("Retry-After")) * 1000, { clock });
        response = await service.answer("{}");
      }
    }
  };
  await untilDone(clock, () => Promise.all(Array.from({ length: concurrency }, work)));
  return { service, elapsedMs: clock.now() };
}

async function untilDone(clock: ManualClock, run: () => Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  const done = run().finally(() => (state.isOver = true));
  while (!state.isOver) await clock.next();
  await done;
}
