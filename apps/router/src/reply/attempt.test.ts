import { expect, test } from "vitest";
import { testClock } from "../testing/test-clock.ts";
import { Attempt } from "./attempt.ts";

test("a part that waited for its turn while the attempt ended is not sent", () => {
  const sent: unknown[] = [];
  const attempt = new Attempt({
    listener: (part) => void sent.push(part),
    signal: new AbortController().signal,
    clock: testClock().clock,
    idleTimeoutMs: 0,
    endsAtMs: Infinity,
  });
  void attempt.send("a");
  attempt.end();
  void attempt.send("b");
  expect(sent).toEqual(["a"]);
});
