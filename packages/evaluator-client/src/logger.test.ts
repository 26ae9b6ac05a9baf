import { expect, test, vi } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import type { Logger } from "./logger.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";

/** Asks once with responses in turn, and returns the lines that were written, each with its level. */
async function linesOf(responses: Response[], logger: Logger | null = null) {
  const lines: string[] = [];
  const to = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
  const own = { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
  const clock = new ManualClock();
  const fetch = async () => responses.shift() ?? Response.error();
  const transport = gatewayTransport({ apiKey: "sk_planted_secret", fetch });
  const options = { transport, logger: logger ?? own };
  const evaluator = createEvaluator(options, { clock, random: () => 1 });
  const call = evaluator.evaluate(emailRequest).catch((error: unknown) => error);
  await clock.advance(60_000);
  return { lines, outcome: await call, evaluator };
}

const limited = () => Response.json({}, { status: 429, headers: { "Retry-After": "2" } });
const secret = { error: { message: "sk_planted_secret\nYour invoice" } };
const broken = () => Response.json(secret, { status: 500 });

test("tells attempts, waits and failures in one line each", async () => {
  const { lines } = await linesOf([limited(), broken(), broken()]);
  expect(lines).toEqual([
    expect.stringMatching(
      /^warn: evaluator: call 1 attempt 1 failed after 0 ms: GatewayRateLimitError: /,
    ),
    "info: evaluator: call 1 waits 2200 ms before attempt 2 (backoff)",
    expect.stringMatching(/^warn: evaluator: call 1 attempt 2 failed after 0 ms: StatusError: /),
    "info: evaluator: call 1 waits 500 ms before attempt 3 (backoff)",
    expect.stringMatching(/^warn: evaluator: call 1 attempt 3 failed after 0 ms: StatusError: /),
    expect.stringMatching(/^error: evaluator: call 1 failed: StatusError: .*after 3 attempts\.$/),
  ]);
  for (const line of lines) expect(line).not.toMatch(/planted|invoice|\n/);
});

test("tells an answer as an attempt, and numbers the calls", async () => {
  const { lines, evaluator } = await linesOf([
    Response.json(gatewayBody),
    Response.json(gatewayBody),
  ]);
  await evaluator.evaluate(emailRequest);
  expect(lines).toEqual([
    "debug: evaluator: call 1 attempt 1 answered 200 after 0 ms",
    "debug: evaluator: call 2 attempt 1 answered 200 after 0 ms",
  ]);
});

test("does not tell what a caller gave as the reason of an abort", async () => {
  const { lines, evaluator } = await linesOf([Response.json(gatewayBody)]);
  const reason = new Error("the private reason");
  const aborted = evaluator.evaluate(emailRequest, { signal: AbortSignal.abort(reason) });
  await expect(aborted).rejects.toBe(reason);
  expect(lines.at(-1)).toBe("error: evaluator: call 2 failed: aborted or broken (Error)");
});

test("takes a logger with one method, and what it throws changes no call", async () => {
  const emitWarning = vi.spyOn(process, "emitWarning").mockReturnValue();
  const debug = () => {
    throw new Error("a broken logger");
  };
  const { outcome } = await linesOf([Response.json(gatewayBody)], { debug });
  expect(outcome).toHaveProperty("answers");
  expect(emitWarning).toHaveBeenCalledOnce();
});

test("tells the logger once that a state is blank, and sends it all the same", async () => {
  const answers = Array.from({ length: 5 }, () => Response.json(gatewayBody));
  const { lines, evaluator } = await linesOf(answers);
  const copy = evaluator.with((request, next) => next(request));
  for (const asked of [evaluator, copy]) {
    await asked.evaluate({ ...emailRequest, state: "" });
    await asked.evaluate({ ...emailRequest, state: " \n" });
  }
  const warnings = lines.filter((line) => line.startsWith("warn"));
  expect(warnings).toEqual([expect.stringContaining("a state is empty or only white space")]);
  expect(lines.filter((line) => line.includes("answered 200"))).toHaveLength(5);
});
