import { expect, test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

test("what comes in one turn is one group, and resolves only when that is written", async () => {
  const groups: string[][] = [];
  const commits = new GroupCommit<string>((changes) => groups.push([...changes]));
  const first = commits.add("a").then(() => groups.length);
  const second = commits.add("b").then(() => groups.length);
  expect(groups).toEqual([]);
  expect(await Promise.all([first, second])).toEqual([1, 1]);
  await commits.add("c");
  expect(groups).toEqual([["a", "b"], ["c"]]);
});

test("what is too much for one group is the next, in the order it came", async () => {
  const groups: string[][] = [];
  const commits = new GroupCommit<string>((changes) => groups.push([...changes]));
  await Promise.all(["a", "b", "c", "d", "e", "f"].map((change) => commits.add(change)));
  expect(groups).toEqual([
    ["a", "b", "c", "d"],
    ["e", "f"],
  ]);
});

test("a group that cannot be written rejects each of its changes, and not the next group", async () => {
  let isFull = true;
  const commits = new GroupCommit<string>(() => {
    if (isFull) throw new Error("full");
  });
  const changes = await Promise.allSettled([commits.add("a"), commits.add("b")]);
  expect(changes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isFull = false;
  await expect(commits.add("c")).resolves.toBeUndefined();
});
