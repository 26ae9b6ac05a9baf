import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { seededRandom } from "evaluator-kit";
import { expect, onTestFinished, test } from "vitest";
import { Ledger, type Reservation } from "./ledger.ts";
import { sqliteLedger } from "./sqlite-ledger.ts";

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
    const database = sqliteLedger(path, () => time.uptime);
    onTestFinished(() => database.close());
    return new Ledger(database, { leaseMs, now: () => time.now });
  };
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pass = (ms: number) => {
    time.now += ms;
    time.uptime += ms;
  };
  return { path, time, pass, connect };
}

async function reserve(ledger: Ledger, nano: number, knownNano = 0): Promise<Reservation> {
  const { reservation } = await ledger.reserve(key, [nano], knownNano);
  if (reservation === null) throw new Error("There is no room.");
  return reservation;
}

test("an amount is reserved until it is settled, and only its cost is spent", async () => {
  const ledger = ledgerFile().connect();
  const held = await reserve(ledger, 0.7e9);
  expect(await ledger.reserve(key, [0.4e9], 0)).toMatchObject({
    reservation: null,
    room: { nano: 0.3e9, resetAtMs: Date.UTC(2026, 10, 25) },
  });
  expect(await ledger.settle(held, 0.1e9)).toMatchObject({ nano: 0.9e9, isNear: false });
  expect(await ledger.spent(key)).toMatchObject({ dayNano: 0.1e9, reservedNano: 0, requests: 1 });
});

test("the dearest amount that fits is reserved, and near the limit only the cheapest", async () => {
  const ledger = ledgerFile().connect();
  const first = await ledger.reserve(key, [2e9, 0.9e9, 0.1e9], 0);
  expect(first.reservation?.nano).toBe(0.9e9);
  if (first.reservation) await ledger.settle(first.reservation, 0.8e9);
  const second = await ledger.reserve(key, [0.15e9, 0.1e9], 0);
  expect(second.reservation?.nano).toBe(0.1e9);
});

test("a hundred reservations at once hold the limit, over several connections", async () => {
  const { connect } = ledgerFile();
  const ledgers = [connect(), connect(), connect()];
  const asked = ledgers.flatMap((ledger) =>
    Array.from({ length: 33 }, async () => ledger.reserve(key, [3e7], 0)),
  );
  const held = (await Promise.all(asked)).filter(({ reservation }) => reservation !== null);
  expect(held).toHaveLength(33);
});

test("a reservation that nothing renews is charged with its known part, and the rest is free", async () => {
  const { connect, pass } = ledgerFile();
  const ledger = connect();
  const held = await reserve(ledger, 0.9e9, 1000);
  await ledger.renew(held, { nano: 0.9e9, knownNano: 5000 });
  pass(leaseMs - 1);
  expect(await ledger.spent(key)).toMatchObject({ dayNano: 0, reservedNano: 0.9e9 });
  pass(1);
  expect(await ledger.spent(key)).toMatchObject({ dayNano: 5000, reservedNano: 0 });
});

test("a renewal after the end of the lease, and a settlement, charge nothing twice", async () => {
  const { connect, pass } = ledgerFile();
  const ledger = connect();
  const held = await reserve(ledger, 0.5e9, 1000);
  pass(2 * leaseMs);
  await ledger.spent(key);
  const renewed = await ledger.renew(held, { nano: 0.5e9, knownNano: 3000 });
  expect(renewed?.paidNano).toBe(1000);
  expect(await ledger.spent(key)).toMatchObject({ dayNano: 1000, reservedNano: 0.5e9 - 1000 });
  if (renewed) await ledger.settle(renewed, 9000);
  expect(await ledger.spent(key)).toMatchObject({ dayNano: 9000, reservedNano: 0 });
});

test("a lease does not depend on the clock, and ends if the machine was started again", async () => {
  const { connect, time } = ledgerFile();
  const ledger = connect();
  await reserve(ledger, 0.5e9);
  time.now += 5 * hourMs;
  expect(await ledger.spent(key)).toMatchObject({ reservedNano: 0.5e9 });
  time.now -= 9 * hourMs;
  expect(await ledger.spent(key)).toMatchObject({ reservedNano: 0.5e9 });
  time.uptime = 5000 + 10 * leaseMs;
  await reserve(ledger, 0.2e9);
  time.uptime = 10;
  expect(await ledger.spent(key)).toMatchObject({ reservedNano: 0 });
});

test("a new day and a new month begin at midnight UTC, and a clock that steps back refills none", async () => {
  const { connect, time } = ledgerFile();
  const ledger = connect();
  await ledger.settle(await reserve(ledger, 0.5e9), 0.5e9);
  time.now = Date.UTC(2026, 10, 30, 23, 59);
  expect(await ledger.spent(key)).toMatchObject({ day: "2026-11-30", dayNano: 0, monthNano: 5e8 });
  time.now = Date.UTC(2026, 11, 1);
  expect(await ledger.spent(key)).toMatchObject({ month: "2026-12", monthNano: 0, requests: 0 });
  await ledger.settle(await reserve(ledger, 1e9), 1e9);
  time.now = Date.UTC(2026, 10, 30);
  const { reservation, room } = await ledger.reserve(key, [1], 0);
  expect(reservation).toBeNull();
  expect(new Date(room.resetAtMs).toISOString()).toBe("2026-12-02T00:00:00.000Z");
});

test("the file is for its owner only, and a file that cannot be opened is tried again", async () => {
  const { path, connect } = ledgerFile();
  const ledger = connect();
  await ledger.spent(key);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const missing = join(path, "..", "later", "router-keys.spend.sqlite");
  const late = new Ledger(sqliteLedger(missing), { leaseMs });
  await expect(late.spent(key)).rejects.toThrow("ENOENT");
  mkdirSync(dirname(missing));
  expect(await late.spent(key)).toMatchObject({ dayNano: 0 });
  await late.close();
});

/** Lets calls live, die, or hang for longer than their lease, and returns what went wrong. */
async function defectsOf(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const drawn = (most: number) => Math.floor(random() * most);
  const { connect, pass, time } = ledgerFile();
  const ledgers = [connect(), connect()];
  const any = () => ledgers[drawn(2)] ?? connect();
  let calls: Reservation[] = [];
  let spent = 0;
  let overdue = 0; // of calls that hung
  let day = "";
  const takeCall = () => calls.splice(drawn(calls.length), 1)[0];
  const steps: (() => Promise<void>)[] = [
    async () => {
      const amounts = [drawn(5e8), drawn(1e8)].toSorted((one, other) => other - one);
      const { reservation } = await any().reserve(key, amounts, 0);
      if (reservation !== null) calls.push(reservation);
    },
    async () => {
      const call = takeCall();
      if (call === undefined) return;
      const knownNano = call.knownNano + drawn(call.nano - call.knownNano);
      const more = random() < 0.3 ? drawn(1e8) : 0;
      const renewed = await any().renew(call, { nano: call.nano + more, knownNano });
      calls.push(renewed ?? call);
    },
    async () => {
      const call = takeCall();
      if (call === undefined) return;
      await any().settle(call, call.knownNano + drawn(call.nano - call.knownNano));
    },
    async () => void takeCall(), // its process was killed
    async () => void (time.now += (drawn(5) - 2) * 5 * hourMs), // the clock steps
    async () => {
      for (let each = 0; each < 3; each += 1) {
        pass(leaseMs / 3);
        calls = await Promise.all(
          calls.map(async (call) => (await any().renew(call, call)) ?? call),
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
    const now = await any().spent(key);
    require(now.day >= day, "a day is opened once");
    require(now.day !== day || now.dayNano >= spent, "a day is not refilled");
    if (now.day !== day) overdue = calls.reduce((sum, { nano }) => sum + nano, overdue);
    ({ day, dayNano: spent } = now);
    require(now.dayNano + now.reservedNano <= limit + overdue, "the bound holds");
    require(Math.min(now.dayNano, now.reservedNano) >= 0, "nothing is negative");
    require(now.dayNano <= now.monthNano, "a month has its days");
  }
  for (const call of calls) await any().settle(call, 0);
  pass(2 * leaseMs);
  require((await any().spent(key)).reservedNano === 0, "all is free at the end");
  return defects;
}

test("no interleaving of calls, kills and clock steps is over the bound, negative or left reserved", async () => {
  const defects: string[] = [];
  for (let seed = 1; seed <= 100; seed += 1) defects.push(...(await defectsOf(seed)));
  expect(defects).toEqual([]);
});
