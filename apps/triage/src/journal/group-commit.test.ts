import { expect, test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

/** Notes the groups, and writes each when it is told to. */
function slowDisk() {
  const groups: number[][] = [];
  const writing: (() => void)[] = [];
  const commits = new GroupCommit<number>(async (changes) => {
    groups.push([...changes]);
    await new Promise<void>((resolve) => void writing.push(resolve));
  });
  return { groups, commits, writeNext: () => writing.shift()?.() };
}

test("a change resolves only when it is written", async () => {
  const { commits, writeNext } = slowDisk();
  const resolved: number[] = [];
  const first = commits.add(1).then(() => resolved.push(1));
  const second = commits.add(2).then(() => resolved.push(2));
  expect(resolved).toEqual([]);
  writeNext();
  await first;
  expect(resolved).toEqual([1]);
  writeNext();
  await second;
  expect(resolved).toEqual([1, 2]);
});

test("few changes are written one by one, many in groups, in the order they came", async () => {
  const { groups, commits, writeNext } = slowDisk();
  const changes = Array.from({ length: 22 }, (_, number) => commits.add(number));
  expect(groups).toEqual([[0], [1], [2], [3]]);
  for (let written = 0; written < groups.length; written += 1) {
    writeNext();
    await new Promise(setImmediate);
  }
  await Promise.all(changes);
  expect(groups.flat()).toEqual(changes.map((_, number) => number));
  expect(groups.map(({ length }) => length).slice(4)).toEqual([3, 2, 2, 2, 2, ...Array(7).fill(1)]);
});

test("a group that cannot be written rejects each of its changes, and not the next group", async () => {
  let isFull = true;
  const commits = new GroupCommit<number>(async () => {
    if (isFull) throw new Error("full");
  });
  const all = Array.from({ length: 20 }, (_, number) => commits.add(number));
  const changes = await Promise.allSettled(all);
  expect(changes.map(({ status }) => status)).toEqual(all.map(() => "rejected"));
  isFull = false;
  await expect(commits.add(20)).resolves.toBeUndefined();
});
