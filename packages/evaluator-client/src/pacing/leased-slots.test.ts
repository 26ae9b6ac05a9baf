import { expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { broken, sharing } from "../testing/sharing-pacers.ts";
import { memoryLimits } from "./limit-store.ts";

test("a pause that another pacer begins drops the slots that were leased before", async () => {
  const { clock, sent, admissions, pacerOf } = sharing();
  const [one, other] = [pacerOf(), pacerOf()];
  for (const name of ["a", "b", "c", "d"]) void one.ask(name);
  await clock.advance(151);
  void other.ask("x");
  await clock.advance(1);
  for (const name of ["a", "b", "c", "d"]) admissions.get(name)?.throttled(1000);
  await clock.advance(900);
  expect(sent).toHaveLength(4);
});

test("a slot that was not used in time is not used later", async () => {
  const { clock, pacerOf } = sharing();
  const { pacer } = pacerOf();
  const controller = new AbortController();
  const call = { tokens: 1, retries: 0, deadlineAtMs: Infinity, deadlineMs: Infinity };
  const { signal } = controller;
  void pacer.admit(call);
  const aborted = pacer.admit({ ...call, signal });
  await clock.advance(10);
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  await clock.advance(10_000);
  expect(pacer.admitNow(1)).toBeNull();
});

test("goes on with its share of the limit when a store with two processes is lost", async () => {
  const inner = memoryLimits({ clock: new ManualClock() });
  let isLost = false;
  const read = (key: string) => (isLost ? broken : inner).read(key);
  const { clock, sent, pacerOf } = sharing({ store: { ...inner, read } });
  const pacers = [pacerOf(), pacerOf()];
  const askAll = (count: number) =>
    pacers.forEach(({ ask }) => Array.from({ length: count }, (_, index) => ask(`${index}`)));
  askAll(4);
  await clock.advance(1000);
  isLost = true;
  const before = sent.length;
  askAll(100);
  await clock.advance(2000);
  expect(sent.length - before).toBeGreaterThan(18);
  expect(sent.length - before).toBeLessThanOrEqual(40);
});

test("a process that only hears of a pause sends nothing in it, also with its own share", async () => {
  const listeners: ((ms: number) => void)[] = [];
  const onPause = (_: string, listener: (ms: number) => void) => {
    listeners.push(listener);
    return () => undefined;
  };
  const { clock, sent, pacerOf } = sharing({ store: { ...broken, onPause } });
  const { ask } = pacerOf();
  void ask("a");
  await clock.advance(100);
  expect(sent).toHaveLength(1);
  for (const listener of listeners) listener(1000);
  void ask("b");
  await clock.advance(999);
  expect(sent).toHaveLength(1);
  await clock.advance(100);
  expect(sent).toHaveLength(2);
});

test("a store that hangs counts as down", async () => {
  const store = { ...broken, read: () => new Promise<never>(() => undefined) };
  const { clock, sent, pacerOf } = sharing({ store });
  void pacerOf().ask("a");
  await clock.advance(499);
  expect(sent).toEqual([]);
  await clock.advance(1);
  expect(sent).toEqual([["a", 500]]);
});
