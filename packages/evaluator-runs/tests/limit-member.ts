import process from "node:process";
import { createEvaluator, directTransport, RateLimitError, sharedPacer } from "evaluator-client";
import { serveParent } from "evaluator-kit/child";
import { postgresLimits } from "evaluator-runs/postgres";

/** Where a member sends, and the limit that it shares. */
interface MemberOptions {
  readonly url: string;
  readonly baseUrl: string;
  readonly perSecond: number;
}

const WAITING = 40;
const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } } as const;
const answeredAtMs: number[] = [];
const throttledAtMs: number[] = [];

const service = {
  /** Sends from now on, as often as the limit lets it. */
  async start({ url, baseUrl, perSecond }: MemberOptions): Promise<void> {
    const store = await postgresLimits(url);
    const limits = { requestsPerMinute: perSecond * 60 };
    const pacer = sharedPacer({ store, key: "shares", limits });
    const transport = directTransport({ apiKey: "a-key", baseUrl });
    // A call that is throttled is reported, and not sent again.
    const evaluator = createEvaluator({ transport, pacer, maxRetries: 0 });
    for (let worker = 0; worker < WAITING; worker += 1) {
      void ask((call) => evaluator.evaluate({ state: `call ${call}`, questions }));
    }
  },
  /** Returns what it has come to between two instants, in milliseconds since 1970. */
  counts({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
    const count = (instants: readonly number[]) =>
      instants.filter((at) => at >= fromMs && at < toMs).length;
    return { answered: count(answeredAtMs), throttled: count(throttledAtMs) };
  },
};

/** What a member is asked. */
export type MemberService = typeof service;

async function ask(evaluate: (call: number) => Promise<unknown>): Promise<void> {
  for (let call = 0; process.connected; call += 1) {
    try {
      await evaluate(call);
      answeredAtMs.push(Date.now());
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      throttledAtMs.push(Date.now());
    }
  }
}

serveParent(service);
