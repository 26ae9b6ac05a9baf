import { expect, test } from "vitest";
import { systemClock } from "./index.ts";
import { createProgress } from "./progress.ts";

function watch(isTTY: boolean, columns = 8) {
  let now = 0;
  const written: string[] = [];
  const stderr = { isTTY, columns, write: (text: string) => written.push(text) };
  const progress = createProgress({ stderr, clock: { ...systemClock, now: () => now } });
  for (; now <= 21_000; now += 125) progress.show(() => `${now} ms read`);
  progress.end();
  return written;
}

test("a log gets a line every ten seconds, and a short piece of work none", () => {
  expect(watch(false)).toEqual(["10000 ms read\n", "20000 ms read\n"]);
});

test("a terminal gets one line from the first second on, which is drawn over and gone at the end", () => {
  const written = watch(true);
  expect(written.slice(0, 2)).toEqual(["\r\u001b[K1000 m…", "\r\u001b[K1250 m…"]);
  expect(written.at(-1)).toBe("\r\u001b[K");
});

test("a terminal of unknown size gets the whole line", () => {
  expect(watch(true, 0)[0]).toBe("\r\u001b[K1000 ms read");
});
