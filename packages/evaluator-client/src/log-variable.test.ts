import { expect, test, vi } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import { ConnectionError } from "./errors.ts";
import { countingTransport, scamRequest } from "./testing/counting-transport.ts";

/** Makes a call that is retried once, with this variable; returns what it prints on standard error. */
async function printedWith(level: string, logger?: { debug(line: string): void }) {
  let failures = 1;
  const answer = async () => {
    failures -= 1;
    if (failures >= 0) throw new ConnectionError("Cut.", { isRetryable: true, maybeBilled: true });
  };
  const { transport } = countingTransport({ answer });
  const print = vi.spyOn(console, "error").mockReturnValue();
  const runtime = { random: () => 0 };
  const evaluator = createEvaluator({ transport, env: { EVALUATOR_LOG: level }, logger }, runtime);
  await evaluator.evaluate(scamRequest("a"));
  return print.mock.calls.map(([line]) => String(line).replace(/\d+ ms/, "0 ms"));
}

const failed = "evaluator: call 1 attempt 1 failed after 0 ms: ConnectionError: Cut.";
const waits = "evaluator: call 1 waits 0 ms before attempt 2 (backoff)";
const answered = "evaluator: call 1 attempt 2 answered after 0 ms";

test.each<[string, string[]]>([
  ["debug", [failed, waits, answered]],
  ["info", [failed, waits]],
  [" warn ", [failed]],
  ["error", []],
  ["off", []],
  ["", []],
])("EVALUATOR_LOG=%s prints its lines on standard error", async (level, lines) => {
  expect(await printedWith(level)).toEqual(lines);
});

test("the option is before the variable", async () => {
  const lines: string[] = [];
  expect(await printedWith("debug", { debug: (line) => lines.push(line) })).toEqual([]);
  expect(lines).toHaveLength(1);
});

test("another level is named at the first call", async () => {
  const { transport } = countingTransport();
  const evaluator = createEvaluator({ transport, env: { EVALUATOR_LOG: "loud" } });
  const error = { name: "ConfigurationError", environmentVariable: "EVALUATOR_LOG" };
  await expect(evaluator.evaluate(scamRequest("a"))).rejects.toMatchObject(error);
});
