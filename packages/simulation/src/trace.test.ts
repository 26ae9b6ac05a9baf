import { expect, test } from "vitest";
import { Trace } from "./trace.ts";

test("the hash is that of all events, in order, with their times", () => {
  const lines: string[] = [];
  const digestOf = (...times: number[]) => {
    const trace = new Trace((line) => lines.push(line));
    for (const atMs of times) trace.add(atMs, "kill", 2, null);
    return trace.digest();
  };
  expect(digestOf(1, 2)).toMatch(/^[\da-f]{64}$/);
  expect(digestOf(1, 2)).toBe(digestOf(1, 2));
  expect(new Set([digestOf(1, 2), digestOf(2, 1), digestOf(1)]).size).toBe(3);
  expect(lines[0]).toBe("1.000 kill 2 ");
});
