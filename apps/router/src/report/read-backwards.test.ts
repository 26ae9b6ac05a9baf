import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { collect } from "../testing/read-answers.ts";
import { readBackwards } from "./latest-messages.ts";

async function linesOf(text: string, options: Parameters<typeof readBackwards>[1]) {
  const path = join(await temporaryFolder(), "log");
  await writeFile(path, text);
  const lines = (await collect(readBackwards(path, options))).flat();
  for (const { text: line, start } of lines) {
    expect(Buffer.from(text).subarray(start).toString()).toMatch(new RegExp(`^${line}`));
  }
  return lines.map((line) => line.text);
}

const texts = ["a\n", "\n", "äö\n", `${"long".repeat(9)}\n`, "b\n", "torn"];

test.each([1, 2, 3, 4, 5, 7, 16, 64, 1024])(
  "blocks of %i bytes hold every line once, the last first",
  async (blockBytes) => {
    expect(await linesOf(texts.join(""), { blockBytes })).toEqual(texts.toReversed());
    const whole = texts.slice(0, -1);
    expect(await linesOf(whole.join(""), { blockBytes })).toEqual(whole.toReversed());
  },
);

test("reads on from a line, and an offset behind the end is the end", async () => {
  expect(await linesOf("a\nb\nc\n", { before: 2 })).toEqual(["a\n"]);
  expect(await linesOf("a\nb\n", { before: 1e9 })).toEqual(["b\n", "a\n"]);
  expect(await linesOf("a\nb\n", { before: 0 })).toEqual([]);
});

test("an empty file and a missing file have no lines", async () => {
  expect(await linesOf("", {})).toEqual([]);
  expect(await collect(readBackwards(join(await temporaryFolder(), "none")))).toEqual([]);
});
