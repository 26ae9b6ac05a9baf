import { expect, test } from "vitest";
import type { FaultOf } from "./plan/fault.ts";
import { generatePlan } from "./plan/generate-plan.ts";
import type { Plan } from "./plan/plan.ts";
import { describeFailure } from "./report.ts";
import { Shrinker } from "./shrink.ts";
import type { Played, Result } from "./simulate.ts";

const kill: FaultOf<"kill"> = {
  kind: "kill",
  process: "worker 2",
  atMs: 192_250,
  backAfterMs: 100,
};
const lost: FaultOf<"store"> = { kind: "store", what: "lost-after", atMs: 200_000, calls: 1 };

/** Plays plans in which the kill and the lost reply together break a property with 40 records. */
function failingPlans() {
  let plays = 0;
  const play = async (plan: Plan): Promise<Played> => {
    plays += 1;
    const { faults, records, workers } = plan;
    const hasBoth = [kill, lost].every((fault) => faults.includes(fault));
    const isBroken = hasBoth && records >= 40 && workers >= 2;
    const first = { property: "asked", seen: "131 > 120 + 8", atMs: 200_001 } as const;
    const result = { ok: !isBroken } as Result;
    return { plan, result, first: isBroken ? first : null };
  };
  return { play, plays: () => plays };
}

test("leaves the faults, records and workers that matter, and describes them", async () => {
  const generated = generatePlan({ seed: 4711, minutes: 60, part: "whole", store: "memory" });
  const faults = [...generated.faults, kill, lost].toSorted((one, two) => one.atMs - two.atMs);
  const plan = { ...generated, faults, records: 300, workers: 8 };
  const { play, plays } = failingPlans();
  const smallest = await new Shrinker(await play(plan), play).shrink();
  expect(smallest.plan).toMatchObject({
    faults: [kill, lost],
    records: 40,
    workers: 2,
    clients: 0,
  });
  expect(plays()).toBeLessThanOrEqual(201);
  expect(describeFailure(smallest, "simulation-4711.json")).toBe(
    `seed 4711: asked: 131 > 120 + 8 after lost reply at 00:03:20.000
  smallest plan: 1 kill, 1 lost reply; 40 records, 2 workers, 0 clients, 3.37 min
  npm run simulate -- --seed 4711 --plan simulation-4711.json
`,
  );
});

test("tries at most 200 times", async () => {
  let plays = 0;
  const plan = generatePlan({ seed: 1, minutes: 500, part: "whole", store: "memory" });
  expect(plan.faults.length).toBeGreaterThan(300);
  const first = { property: "order", seen: "2 comes after 0", atMs: 0 } as const;
  const failed: Played = { plan, result: { ok: false } as Result, first };
  const play = async (tried: Plan) => {
    plays += 1;
    return { ...failed, plan: tried, first: null };
  };
  expect((await new Shrinker(failed, play).shrink()).plan).toBe(plan);
  expect(plays).toBe(200);
});
