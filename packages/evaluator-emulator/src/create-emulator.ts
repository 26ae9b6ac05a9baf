import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "evaluator-kit";
import { Hono } from "hono";
import { createAccountBook, type KeySetup, type Tier } from "./accounts.ts";
import { answerRequest, printedDecimals } from "./answers/answer-request.ts";
import { type Rule, ruleOpinions } from "./answers/rules.ts";
import type { CallEnvironment, EmulatorContext } from "./call.ts";
import { controlRoutes, createRequestLog } from "./control-routes.ts";
import { type EngineName, engineRoutes } from "./engine/engine-routes.ts";
import { createFaultBook } from "./faults/fault-book.ts";
import { checkFaults, type Fault } from "./faults/fault.ts";
import { gatewayRoutes } from "./gateway/gateway-routes.ts";
import { createLedger } from "./ledger.ts";
import { type Exchange, recordedAnswers } from "./recordings.ts";
import { type Emulator, toEmulator } from "./serve.ts";
import { createVendorGate, type VendorLimits } from "./vendor-limits.ts";
import { vendorRoutes } from "./vendor/vendor-routes.ts";

/** The options of an emulator. */
export interface EmulatorOptions {
  /** The tier of accounts that do not name one. @default "paid" */
  readonly tier?: Tier;
  /** Decides ids and drawn faults; the same seed and requests give the same run. @default 1 */
  readonly seed?: number;
  /**
   * Accepted keys, for both sides, each with its own account.
   *
   * @default any key at the gateway, none needed at the vendor
   */
  readonly keys?: readonly (string | KeySetup)[];
  /** Exchanges whose answers come first. @default those that come with the emulator */
  readonly exchanges?: readonly Exchange[];
  /** Answers that come after recorded exchanges and before the judge's. @default none */
  readonly rules?: readonly Rule[];
  /** The chat server that is played too, with log-probabilities from the judge. @default none */
  readonly engine?: EngineName;
  /** The vendor's limits for a key; `true` for the real ones. @default no limits */
  readonly limits?: VendorLimits | true;
  /** Decimal places of probabilities and scores; recorded answers have 2 at most. @default 2 */
  readonly decimals?: number;
  /** Whether choice and score answers carry a confidence. @default true */
  readonly confidence?: boolean;
  /** Faults that are played on purpose. @default none */
  readonly faults?: readonly Fault[];
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
  /** Waits for a latency; rejects if the signal aborts. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Creates an emulator of the gateway and the vendor (contract section 4).
 *
 * @throws {Error} names the rule or fault that is wrong, and the field.
 * @example
 * ```ts
 * const emulator = createEmulator();
 * const { gatewayBaseUrl } = await emulator.listen();
 * ```
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { tier = "paid", seed = 1, clock = Date.now, sleep = sleepUntilAborted } = options;
  const { decimals = printedDecimals, confidence = true, engine, exchanges, rules = [] } = options;
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 15) {
    throw new RangeError("decimals is a whole number from 0 to 15.");
  }
  const limits = readLimits(options);
  const vendorGate = limits === null ? null : createVendorGate(limits);
  const accounts = createAccountBook(tier, options.keys);
  const ledger = createLedger();
  const faults = createFaultBook(checkFaults(options.faults ?? []), seed, sleep);
  const requests = createRequestLog(accounts, clock);
  const recorded = recordedAnswers(exchanges);
  const ruled = ruleOpinions(rules);
  let nextId = createIds(seed);
  const context: EmulatorContext = {
    accounts,
    ledger,
    vendorGate,
    clock,
    answer: (input) => answerRequest(input, { recorded, ruled, decimals, confidence }),
    nextId: () => nextId(),
  };

  function reset(): void {
    for (const part of [accounts, ledger, vendorGate, faults, requests]) part?.reset();
    nextId = createIds(seed);
  }
  const app = new Hono<CallEnvironment>();
  app.route("/", controlRoutes({ accounts, faults, requests, reset }));
  app.use(requests.middleware, faults.middleware);
  if (engine !== undefined) app.route("/", engineRoutes(engine, context));
  app.route("/", vendorRoutes(context)); // its paths; all others are the gateway's
  app.route("/", gatewayRoutes(context));
  // An abort during a latency rejects with the caller's reason; it is not a response.
  app.onError((error) => {
    throw error;
  });
  return toEmulator(async (request, delivery) => await app.fetch(request, { delivery }), reset);
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const idLength = 26;

/** Returns a sequence of ids of 26 letters and digits; the same seed gives the same sequence. */
function createIds(seed: number): () => string {
  const random = seededRandom(seed);
  const draw = () => alphabet[(random() * 2 ** 32) % alphabet.length];
  return () => Array.from({ length: idLength }, draw).join("");
}

function readLimits({ limits }: EmulatorOptions): VendorLimits | null {
  if (limits === undefined) return null;
  if (limits === true) return {};
  const wrong = Object.entries(limits).find(([, limit]) => !(Number.isInteger(limit) && limit > 0));
  if (wrong === undefined) return limits;
  throw new RangeError(`limits.${wrong[0]} is a whole number from 1 up.`);
}

async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
