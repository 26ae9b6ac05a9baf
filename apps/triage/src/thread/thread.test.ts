import { expect, test } from "vitest";
import { TriageError } from "../errors.ts";
import type { Tally } from "../testing/tally-thread.ts";
import { Thread } from "./thread.ts";

const startTally = (start: number) =>
  Thread.start<Tally>(new URL("../testing/tally-thread.ts", import.meta.url), start);

test("methods of the object give their results, in the order of the calls", async () => {
  const tally = await startTally(1);
  const sums = [tally.call("add", [2, 3]), tally.call("addLater", 4), tally.call("add", [])];
  expect(await Promise.all(sums)).toEqual([6, 10, 10]);
  await tally.close();
});

test("a TriageError arrives as one, and the object goes on", async () => {
  const tally = await startTally(0);
  await expect(tally.call("refuse")).rejects.toThrow(new TriageError("Make room and run again."));
  await expect(tally.call("refuse")).rejects.toBeInstanceOf(TriageError);
  expect(await tally.call("add", [1])).toBe(1);
  await tally.close();
});

test("a defect arrives as the error it is", async () => {
  const tally = await startTally(0);
  await expect(tally.call("breakDown")).rejects.toThrow(new RangeError("A defect."));
  await tally.close();
});

test("an object that cannot be made fails the start", async () => {
  await expect(startTally(-1)).rejects.toThrow(new TriageError("A tally begins at 0."));
});

test("when the thread ends by itself, nobody waits for ever", async () => {
  const tally = await startTally(0);
  const calls = [tally.call("endThread"), tally.call("add", [1])];
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(tally.call("add", [1])).rejects.toThrow("The thread has ended.");
  await tally.close();
});

test("an object that fails to let go fails the close", async () => {
  const tally = await startTally(1001);
  await expect(tally.close()).rejects.toThrow("Too much to let go of.");
});
