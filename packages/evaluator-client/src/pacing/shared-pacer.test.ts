import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { broken, limits, sharing } from "../testing/sharing-pacers.ts";
import { type LimitStore, memoryLimits } from "./limit-store.ts";
import type { SharedPacerOptions } from "./leased-slots.ts";
import { sharedPacer } from "./shared-pacer.ts";

test("sends at the instants that the store leases, in turn with others", async () => {
  const { clock, sent, pacerOf } = sharing();
  const [one, other] = [pacerOf(), pacerOf()];
  for (const name of ["a", "b", "c"]) void one.ask(name);
  for (const name of ["x", "y", "z"]) void other.ask(name);
  await clock.advance(1000);
  expect(sent.map(([, atMs]) => atMs)).toEqual([0, 50, 100, 150, 200, 250]);
  expect(sent.map(([name]) => name).join("")).toBe("axbcyz");
  expect(clock.waiting).toBe(0);
});

test("leases the tokens of the calls, and corrects them by what the answers say", async () => {
  const reservedMs: number[] = [];
  const clock = new ManualClock();
  const inner = memoryLimits({ clock });
  const store: LimitStore = {
    ...inner,
    swap: (key, version, row) => (
      reservedMs.push(row.tokensFreeAtMs),
      inner.swap(key, version, row)
    ),
  };
  const { pacerOf, admissions } = sharing({ store, limits: { tokensPerSecond: 1000 } });
  const { ask } = pacerOf();
  await ask("a", 300);
  admissions.get("a")?.succeeded(500);
  await ask("b", 300);
  // 950 tokens a second: those of the first call, then of the second and the 200 that were missing.
  expect(reservedMs.map((ms) => Math.round(ms * 0.95))).toEqual([300, 800]);
});

test("four throttled answers in a row pause every pacer of the limit, and slow all of them", async () => {
  const { clock, sent, admissions, pacerOf } = sharing();
  const [one, other] = [pacerOf(), pacerOf()];
  for (const name of ["a", "b", "c", "d"]) void one.ask(name);
  await clock.advance(150);
  const verdicts = ["a", "b", "c", "d"].map((name) => admissions.get(name)?.throttled(1000));
  expect(verdicts).toEqual(["stray", "stray", "stray", "limit"]);
  for (const name of ["x", "y", "z"]) void other.ask(name);
  await clock.advance(1099);
  expect(sent).toHaveLength(4);
  await clock.advance(1000);
  const atMs = sent.slice(4).map(([, ms]) => ms);
  expect(atMs[0]).toBe(1250);
  // 0.8 of the rate, and 1 % more after a second.
  expect(atMs.map((ms) => ms - 1250)).toEqual([0, 63, 124]);
});

test("a refusal after a pause is a stray: of a call from before it, and after an answer", async () => {
  const { clock, admissions, pacerOf } = sharing();
  const { ask } = pacerOf();
  for (const name of ["a", "b", "c", "d", "e"]) void ask(name);
  await clock.advance(201);
  for (const name of ["a", "b", "c", "d"]) admissions.get(name)?.throttled(1000);
  await clock.advance(1500);
  expect(admissions.get("e")?.throttled(1000)).toBe("stray");
  for (const name of ["f", "g"]) void ask(name);
  await clock.advance(500);
  admissions.get("f")?.succeeded(null);
  expect(admissions.get("g")?.throttled(1000)).toBe("stray");
});

test("an impatient call waits for its turn once a repeated pause is over", async () => {
  const { clock, admissions, pacerOf } = sharing();
  const { pacer, ask } = pacerOf();
  for (const name of ["a", "b", "c", "d", "e"]) void ask(name);
  await clock.advance(150);
  for (const name of ["a", "b", "c", "d"]) admissions.get(name)?.throttled(1000);
  await clock.advance(1100);
  expect(admissions.get("e")?.throttled(1000)).toBe("limit");
  await clock.advance(1100);
  const patience = { endsAtMs: clock.now() + 5000, isMeant: () => true };
  const deadline = { deadlineAtMs: Infinity, deadlineMs: Infinity };
  const admission = pacer.admit({ tokens: 1, retries: 0, ...deadline, patience });
  await clock.advance(1000);
  await expect(admission).resolves.toBeDefined();
});

test("throttled answers among successes pause every pacer if they are more than a seventh", async () => {
  const { clock, admissions, pacerOf } = sharing();
  const { ask } = pacerOf();
  const verdicts: unknown[] = [];
  for (let index = 0; index < 21; index += 1) {
    void ask(`${index}`);
    await clock.advance(50);
    const admission = admissions.get(`${index}`);
    if (index % 3 === 0) verdicts.push(admission?.throttled(1000));
    else admission?.succeeded(null);
  }
  expect(verdicts.slice(0, 6)).toEqual(["stray", "stray", "stray", "stray", "stray", "limit"]);
});

test("a throttled answer that stands alone among successes delays nobody else", async () => {
  const { clock, admissions, pacerOf } = sharing();
  const { ask } = pacerOf();
  for (let index = 0; index < 20; index += 1) {
    void ask(`${index}`);
    await clock.advance(50);
    admissions.get(`${index}`)?.succeeded(null);
  }
  void ask("stray");
  await clock.advance(50);
  expect(admissions.get("stray")?.throttled(5000)).toBe("stray");
  void ask("next");
  await clock.advance(50);
  expect(admissions.has("next")).toBe(true);
});

test("goes on with nine tenths of the limit when the store never answered", async () => {
  const { clock, sent, pacerOf } = sharing({ store: broken });
  const { ask } = pacerOf();
  for (let index = 0; index < 100; index += 1) void ask(`${index}`);
  await clock.advance(2000);
  expect(sent.length).toBeGreaterThanOrEqual(35);
  expect(sent.length).toBeLessThanOrEqual(37);
});

test.each([
  null,
  {},
  { row: null, version: 0, nowMs: Number.NaN },
  { row: { pausedUntilMs: null }, version: 0, nowMs: 0 },
  { row: { share: 0 }, version: 0, nowMs: 0 },
])("a store that reads %j counts as down", async (stored) => {
  const store = { ...broken, read: async () => stored as never, swap: async () => true };
  const { clock, sent, pacerOf } = sharing({ store, whenStoreIsDown: "closed" });
  void pacerOf()
    .ask("a")
    .catch(() => undefined);
  await clock.advance(10_000);
  expect(sent).toEqual([]);
});

test("sends nothing without the store where it is asked to, and goes on once it is back", async () => {
  const clock = new ManualClock();
  const inner = memoryLimits({ clock });
  let isUp = false;
  const store = { ...inner, read: (key: string) => (isUp ? inner : broken).read(key) };
  const shared = sharing({ store, whenStoreIsDown: "closed" });
  void shared.pacerOf().ask("a");
  await shared.clock.advance(5500);
  isUp = true;
  expect(shared.sent).toEqual([]);
  await shared.clock.advance(1000);
  expect(shared.sent).toEqual([["a", 6000]]);
});

test("a closed one lets no call wait", async () => {
  const { clock, pacerOf } = sharing({ store: broken, whenStoreIsDown: "closed" });
  const { pacer, ask } = pacerOf();
  const waiting = ask("a").catch((error: unknown) => error);
  await pacer[Symbol.asyncDispose]();
  const closed = { name: "ConfigurationError", option: "pacer" };
  expect(await waiting).toMatchObject(closed);
  await expect(ask("b")).rejects.toMatchObject(closed);
  await clock.advance(0);
  expect(clock.waiting).toBe(0);
});

test.each([
  ["store", { store: {} }],
  ["key", { key: "" }],
  ["limits", { limits: {} }],
  ["limits.requestsPerMinute", { limits: { requestsPerMinute: 0 } }],
  ["whenStoreIsDown", { whenStoreIsDown: "open" }],
  ["leaseMs", { leaseMs: -1 }],
])("names the wrong option %s", (option, changes) => {
  const options = { store: memoryLimits(), key: "a", limits, ...changes } as SharedPacerOptions;
  expect(() => sharedPacer(options)).toThrow(
    expect.objectContaining({ name: "ConfigurationError", option }),
  );
});

test("tells once that the store is down, and once that it is back", async () => {
  const changes: boolean[] = [];
  let isDown = false;
  const clock = new ManualClock();
  const inner = memoryLimits({ clock });
  const read = (key: string) => (isDown ? broken.read(key) : inner.read(key));
  const onStoreChange = (change: boolean) => void changes.push(change);
  const shared = sharing({ store: { ...inner, read }, onStoreChange });
  const { ask } = shared.pacerOf();
  await ask("a");
  isDown = true;
  for (const name of ["b", "c", "d"]) void ask(name);
  await shared.clock.advance(5000);
  expect(changes).toEqual([true]);
  isDown = false;
  void ask("e");
  await shared.clock.advance(5000);
  expect(changes).toEqual([true, false]);
});

test("a process is known to the store by its new id", async () => {
  const clock = new ManualClock();
  const store = memoryLimits({ clock });
  const runtime = { clock, newId: () => "one" };
  const pacer = sharedPacer({ store, key: "a", limits }, runtime);
  await pacer.admit({ tokens: 1, retries: 0, deadlineAtMs: Infinity, deadlineMs: Infinity });
  const { row } = await store.read("a");
  expect(row?.members).toEqual({ one: 0 });
});
