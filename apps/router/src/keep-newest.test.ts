import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { keepNewest } from "./keep-newest.ts";

test("the oldest entries go first, and one that is set again is the newest", () => {
  const map = new Map<string, number>();
  const set = keepNewest(map, 2);
  for (const key of ["a", "b", "a", "c"]) set(key, 1);
  map.delete("a");
  for (const key of ["d", "e"]) set(key, 2);
  expect([...map.keys()]).toEqual(["d", "e"]);
});

test("values that were replaced are not kept, also if nothing is deleted for its age", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const map = new Map<string, object>();
  const set = keepNewest(map, 1000);
  const all: WeakRef<object>[] = [];
  for (let n = 0; n < 20_000; n += 1) {
    const value = {};
    all.push(new WeakRef(value));
    set(String(n % 100), value);
  }
  await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its object until then
  collectGarbage();
  const alive = all.filter((each) => each.deref() !== undefined);
  expect(alive.length).toBeLessThan(2000);
  set("the map is in use until now", {});
  expect(map.size).toBe(101);
});
