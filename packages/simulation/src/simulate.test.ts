import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatePlan } from "./plan/generate-plan.ts";
import { playOnce, playPlan, simulate, type Simulated } from "./simulate.ts";

interface FoundSeed extends Simulated {
  readonly found: string;
}

const found = JSON.parse(
  readFileSync(new URL("../seeds.json", import.meta.url), "utf8"),
) as FoundSeed[];

const seeds = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test.each(seeds(85))(
  "all properties hold in half a minute of the client, seed %i",
  async (seed) => {
    const { ok, failed } = await simulate({ seed, minutes: 0.5, part: "client" });
    expect({ ok, failed }).toEqual({ ok: true, failed: [] });
  },
);

test.each(seeds(15))("all properties hold in half a minute of the whole, seed %i", async (seed) => {
  const { ok, failed } = await simulate({ seed, minutes: 0.5 });
  expect({ ok, failed }).toEqual({ ok: true, failed: [] });
});

test("under steady load a limit is used, and little is refused", async () => {
  const plan = generatePlan({ seed: 24, minutes: 3, part: "client", store: "memory" });
  expect(plan).toMatchObject({ load: "steady", faults: [], clients: 2 });
  const { result } = await playPlan(plan);
  expect(result.failed).toEqual([]);
  const impossible = { limit: { perSecond: 0.5, burst: 1 }, latencyMs: 90_000 };
  const slow = await playPlan({ ...plan, service: impossible });
  expect(slow.result.failed).toContain("rate");
});

test.each(found)("all properties hold with seed $seed ($found)", async (seed) => {
  expect((await simulate(seed)).failed).toEqual([]);
});

test.each([2, 5])(
  "the trace of seed %i is the same each time, and of no other seed",
  async (seed) => {
    const traceOf = async (each: number) => {
      const setting = { minutes: 0.2, part: "client", store: "memory" } as const;
      return (await playOnce(generatePlan({ seed: each, ...setting }))).trace;
    };
    expect(await traceOf(seed)).toBe(await traceOf(seed));
    expect(await traceOf(seed)).not.toBe(await traceOf(seed + 1));
  },
);
