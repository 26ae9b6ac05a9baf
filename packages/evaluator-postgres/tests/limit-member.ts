import process from "node:process";
import { createEvaluator, directTransport, RateLimitError, sharedPacer } from "evaluator-client";
import { postgresLimits } from "evaluator-postgres";

/** What a member is asked: what it has come to between two instants, in milliseconds since 1970. */
export interface CountsAsked {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What it answers. */
export interface MemberCounts {
  readonly answered: number;
  readonly throttled: number;
}

const WAITING = 40;
const [url = "", baseUrl = "", perSecond = ""] = process.argv.slice(2);
const store = await postgresLimits(url);
const limits = { requestsPerMinute: Number(perSecond) * 60 };
const pacer = sharedPacer({ store, key: "shares", limits });
const transport = directTransport({ apiKey: "a-key", baseUrl });
// A call that is throttled is reported, and not sent again.
const evaluator = createEvaluator({ transport, pacer, maxRetries: 0 });
const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } } as const;
const answeredAtMs: number[] = [];
const throttledAtMs: number[] = [];

async function ask(): Promise<void> {
  for (let call = 0; process.connected; call += 1) {
    try {
      await evaluator.evaluate({ state: `call ${call}`, questions });
      answeredAtMs.push(Date.now());
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      throttledAtMs.push(Date.now());
    }
  }
}

process.on("message", ({ fromMs, toMs }: CountsAsked) => {
  const count = (instants: readonly number[]) =>
    instants.filter((at) => at >= fromMs && at < toMs).length;
  const counts = { answered: count(answeredAtMs), throttled: count(throttledAtMs) };
  process.send?.(counts satisfies MemberCounts);
});
process.on("disconnect", () => process.exit());
await Promise.all(Array.from({ length: WAITING }, ask));
