import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { seededRandom } from "evaluator-kit";
import { openPglite } from "evaluator-runs/testing";
import { expect, onTestFinished, test } from "vitest";
import { type Held, reservedNano } from "./budget-state.ts";
import { openPostgresTable } from "./key-database.ts";
import { sqliteLedger } from "./key-database.ts";
import { Ledger } from "./ledger.ts";

const leaseMs = 60_000;
const hourMs = 3_600_000;
const key = { budget: "team", usdPerDay: 1, usdPerMonth: 20 };
const limit = 1e9;

/** A file with the clocks of its machine; each `connect` is a process. */
function ledgerFile() {
  const folder = mkdtempSync(join(tmpdir(), "ledger-"));
  const path = join(folder, "router-keys.spend.sqlite");
  const time = { now: Date.UTC(2026, 10, 24, 12), uptime: 5000 };
  const connect = () => {
    const open = () => sqliteLedger(path, () => time.uptime);
    const ledger = new Ledger(open, { leaseMs, now: () => time.now });
    onTestFinished(() => ledger.close());
    return ledger;
  };
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pass = (ms: number) => {
    time.now += ms;
    time.uptime += ms;
  };
  return { path, time, pass, connect };
}

async function reserve(ledger: Ledger, nano: number): Promise<Held> {
  const { held } = await ledger.reserve(key, [nano]);
  if (held === null) throw new Error("There is no room.");
  return held;
}

async function amountsIn(ledger: Ledger) {
  const state = await ledger.state(key);
  return { ...state, reserved: reservedNano(state) };
}

test("an amount is reserved until it is settled, and only its cost is spent", async () => {
  const ledger = ledgerFile().connect();
  const held = await reserve(ledger, 0.7e9);
  expect(await ledger.reserve(key, [0.4e9])).toMatchObject({
    held: null,
    room: { nano: 0.3e9, resetAtMs: Date.UTC(2026, 10, 25) },
  });
  expect(await ledger.settle(key, held, 0.1e9)).toMatchObject({ nano: 0.9e9, isNear: false });
  expect(await ledger.state(key)).toMatchObject({ dayNano: 0.1e9, held: [], requests: 1 });
});

test("the known part of a reservation is charged at the end of its lease", async () => {
  const { connect, pass } = ledgerFile();
  const ledger = connect();
  await ledger.reserve(key, [0.7e9], 0.2e9);
  pass(leaseMs);
  expect(await ledger.state(key)).toMatchObject({ dayNano: 0.2e9, held: [] });
});

test("the dearest amount that fits is reserved, and near the limit only the cheapest", async () => {
  const ledger = ledgerFile().connect();
  const first = await ledger.reserve(key, [2e9, 0.9e9, 0.1e9]);
  expect(first.held?.nano).toBe(0.9e9);
  if (first.held) await ledger.settle(key, first.held, 0.8e9);
  const second = await ledger.reserve(key, [0.15e9, 0.1e9]);
  expect(second.held?.nano).toBe(0.1e9);
});

test("a hundred reservations at once hold the limit, over several connections", async () => {
  const { connect } = ledgerFile();
  const ledgers = [connect(), connect(), connect()];
  const asked = ledgers.flatMap((ledger) =>
    Array.from({ length: 33 }, async () => ledger.reserve(key, [4e7])),
  );
  const results = (await Promise.all(asked)).filter(({ held }) => held !== null);
  expect(results).toHaveLength(25);
});

test("a reservation that nothing renews is charged with its known part, and the rest is free", async () => {
  const { connect, pass } = ledgerFile();
  const ledger = connect();
  const held = await reserve(ledger, 0.9e9);
  await ledger.renew(key, held, { nano: 0.9e9, known: 5000 });
  pass(leaseMs - 1);
  expect(await amountsIn(ledger)).toMatchObject({ dayNano: 0, reserved: 0.9e9 });
  pass(1);
  expect(await amountsIn(ledger)).toMatchObject({ dayNano: 5000, reserved: 0 });
});

test("a renewal after the end of the lease, and a settlement, charge nothing twice", async () => {
  const { connect, pass } = ledgerFile();
  const ledger = connect();
  const held = await reserve(ledger, 0.5e9);
  const known = await ledger.renew(key, held, { nano: 0.5e9, known: 1000 });
  pass(2 * leaseMs);
  await ledger.state(key);
  const renewed = known && (await ledger.renew(key, known, { nano: 0.5e9, known: 3000 }));
  expect(renewed?.paid).toBe(1000);
  expect(await amountsIn(ledger)).toMatchObject({ dayNano: 1000, reserved: 0.5e9 - 1000 });
  if (renewed) await ledger.settle(key, renewed, 9000);
  expect(await amountsIn(ledger)).toMatchObject({ dayNano: 9000, reserved: 0 });
});

test("a renewal after the end of the lease needs room for all of it", async () => {
  const { connect, pass } = ledgerFile();
  const ledger = connect();
  const held = await reserve(ledger, 0.5e9);
  pass(2 * leaseMs);
  await reserve(ledger, 0.6e9);
  expect(await ledger.renew(key, held, { nano: 0.5e9, known: 0 })).toBeNull();
  expect(await ledger.renew(key, held, { nano: 0.55e9, known: 0 })).toBeNull();
  expect((await ledger.renew(key, held, { nano: 0.4e9, known: 0 }))?.nano).toBe(0.4e9);
  expect(await amountsIn(ledger)).toMatchObject({ reserved: 1e9 });
});

test("a lease does not depend on the clock, and ends if the machine was started again", async () => {
  const { connect, time } = ledgerFile();
  const ledger = connect();
  await reserve(ledger, 0.5e9);
  time.now += 5 * hourMs;
  expect(await amountsIn(ledger)).toMatchObject({ reserved: 0.5e9 });
  time.now -= 9 * hourMs;
  expect(await amountsIn(ledger)).toMatchObject({ reserved: 0.5e9 });
  time.uptime = 5000 + 10 * leaseMs;
  await reserve(ledger, 0.2e9);
  time.uptime = 10;
  expect(await amountsIn(ledger)).toMatchObject({ reserved: 0 });
});

test("a new day and a new month begin at midnight UTC, and a clock that steps back refills none", async () => {
  const { connect, time } = ledgerFile();
  const ledger = connect();
  await ledger.settle(key, await reserve(ledger, 0.5e9), 0.5e9);
  time.now = Date.UTC(2026, 10, 30, 23, 59);
  expect(await ledger.state(key)).toMatchObject({ day: "2026-11-30", dayNano: 0, monthNano: 5e8 });
  time.now = Date.UTC(2026, 11, 1);
  expect(await ledger.state(key)).toMatchObject({ day: "2026-12-01", monthNano: 0, requests: 0 });
  await ledger.settle(key, await reserve(ledger, 1e9), 1e9);
  time.now = Date.UTC(2026, 10, 30);
  const { held, room } = await ledger.reserve(key, [1]);
  expect(held).toBeNull();
  expect(new Date(room.resetAtMs).toISOString()).toBe("2026-12-02T00:00:00.000Z");
});

test("the file is for its owner only, also if others could read it, and a file that cannot be opened is tried again", async () => {
  const { path, connect } = ledgerFile();
  writeFileSync(path, "", { mode: 0o644 });
  const ledger = connect();
  await ledger.state(key);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const missing = join(path, "..", "later", "router-keys.spend.sqlite");
  const late = new Ledger(() => sqliteLedger(missing), { leaseMs });
  await expect(late.state(key)).rejects.toThrow("ENOENT");
  mkdirSync(dirname(missing));
  expect(await late.state(key)).toMatchObject({ dayNano: 0 });
  await late.close();
});

test("PostgreSQL keeps the same ledger with the same statements", async () => {
  const database = await openPglite();
  const ledger = new Ledger(() => openPostgresTable("budgets", "", async () => database), {
    leaseMs,
  });
  const [first, second] = [await reserve(ledger, 0.4e9), await reserve(ledger, 0.3e9)];
  expect(await ledger.reserve(key, [0.4e9])).toMatchObject({ held: null, room: { nano: 0.3e9 } });
  await ledger.renew(key, second, { nano: 0.2e9, known: 7 });
  await ledger.settle(key, first, 0.1e9);
  expect(await amountsIn(ledger)).toMatchObject({ dayNano: 0.1e9, reserved: 0.2e9, requests: 2 });
});

/** Lets calls live, die, or hang for longer than their lease, and returns what went wrong. */
async function defectsOf(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const drawn = (most: number) => Math.floor(random() * most);
  const { connect, pass, time } = ledgerFile();
  const ledgers = [connect(), connect()];
  const any = () => ledgers[drawn(2)] ?? connect();
  let calls: Held[] = [];
  let spent = 0;
  let overdue = 0; // of calls that hung
  let day = "";
  const takeCall = () => calls.splice(drawn(calls.length), 1)[0];
  const steps: (() => Promise<void>)[] = [
    async () => {
      const amounts = [drawn(5e8), drawn(1e8)].toSorted((one, other) => other - one);
      const { held } = await any().reserve(key, amounts);
      if (held !== null) calls.push(held);
    },
    async () => {
      const call = takeCall();
      if (call === undefined) return;
      const known = call.known + drawn(call.nano - call.known);
      const more = random() < 0.3 ? drawn(1e8) : 0;
      const renewed = await any().renew(key, call, { nano: call.nano + more, known });
      calls.push(renewed ?? call);
    },
    async () => {
      const call = takeCall();
      if (call === undefined) return;
      await any().settle(key, call, call.known + drawn(call.nano - call.known));
    },
    async () => void takeCall(), // its process was killed
    async () => void (time.now += (drawn(5) - 2) * 5 * hourMs), // the clock steps
    async () => {
      for (let each = 0; each < 3; each += 1) {
        pass(leaseMs / 3);
        calls = await Promise.all(
          calls.map(async (call) => (await any().renew(key, call, call)) ?? call),
        );
      }
    },
    async () => {
      overdue += calls.reduce((sum, { nano }) => sum + nano, 0);
      pass(leaseMs + drawn(hourMs));
    },
  ];
  const defects: string[] = [];
  const require = (isTrue: boolean, fact: string) => isTrue || defects.push(`${seed}: ${fact}`);
  for (let step = 0; step < 60; step += 1) {
    await steps[drawn(steps.length)]?.();
    await any().reserve(key, [Infinity]); // a refused call opens the day too
    const now = await amountsIn(any());
    require(now.day >= day, "a day is opened once");
    require(now.day !== day || now.dayNano >= spent, "a day is not refilled");
    if (now.day !== day) overdue = calls.reduce((sum, { nano }) => sum + nano, overdue);
    ({ day, dayNano: spent } = now);
    require(now.dayNano + now.reserved <= limit + overdue, "the bound holds");
    require(Math.min(now.dayNano, now.reserved) >= 0, "nothing is negative");
    require(now.dayNano <= now.monthNano, "a month has its days");
  }
  for (const call of calls) await any().settle(key, call, 0);
  pass(2 * leaseMs);
  require((await amountsIn(any())).reserved === 0, "all is free at the end");
  return defects;
}

test("no interleaving of calls, kills and clock steps is over the bound, negative or left reserved", async () => {
  const defects: string[] = [];
  for (let seed = 1; seed <= 100; seed += 1) defects.push(...(await defectsOf(seed)));
  expect(defects).toEqual([]);
});

test("a reader with a wrong clock refills no budget", async () => {
  const { time, connect } = ledgerFile();
  const router = connect();
  await router.settle(key, await reserve(router, limit), limit);
  time.now += 48 * hourMs;
  expect((await connect().state(key)).dayNano).toBe(0); // on its own day
  time.now -= 48 * hourMs;
  expect((await router.state(key)).dayNano).toBe(limit);
});
