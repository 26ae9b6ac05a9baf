import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { LimitedService, type LimitKind, seededRandom } from "../testing/limited-service.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const ITEMS = 5000;

interface Scenario {
  limit: number;
  windowMs: number;
  kind: LimitKind;
  saysWhen: boolean;
  /** The share of the limit that is used at the least. */
  used: number;
}

/** Asks 5,000 items with 32 workers of a service that limits, in simulated time. */
async function simulate(scenario: Scenario) {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const service = new LimitedService(clock, random, scenario);
  const fetch = () => service.answer(gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluator = createEvaluator({ transport }, { clock, random });
  const batch = evaluator.evaluateMany(
    Array.from({ length: ITEMS }, () => emailRequest),
    { concurrency: 32 },
  );
  const run = { isOver: false };
  const consumed = (async () => {
    while (!(await batch.next()).done);
    run.isOver = true;
  })();
  while (!run.isOver) await clock.advance(scenario.windowMs);
  await consumed;
  return { service, batch, elapsedMs: clock.now() };
}

test.each<Scenario>([
  { limit: 20, windowMs: 1000, kind: "bucket", saysWhen: true, used: 0.95 },
  { limit: 20, windowMs: 1000, kind: "bucket", saysWhen: false, used: 0.95 },
  { limit: 10, windowMs: 60_000, kind: "bucket", saysWhen: true, used: 0.95 },
  { limit: 10, windowMs: 60_000, kind: "bucket", saysWhen: false, used: 0.95 },
  { limit: 10, windowMs: 60_000, kind: "window", saysWhen: true, used: 0.95 },
  // A window of one second asks to wait a whole second, as long as the window itself.
  { limit: 20, windowMs: 1000, kind: "window", saysWhen: true, used: 0.9 },
])("loses nothing under $limit in $windowMs ms ($kind, says when: $saysWhen)", async (scenario) => {
  const { service, batch, elapsedMs } = await simulate(scenario);
  const allowed = (elapsedMs / scenario.windowMs) * scenario.limit;
  expect(batch.totals).toMatchObject({ succeeded: ITEMS, failed: 0 });
  expect(service.throttled / service.requests).toBeLessThan(0.01);
  expect(ITEMS / allowed).toBeGreaterThan(scenario.used);
});
