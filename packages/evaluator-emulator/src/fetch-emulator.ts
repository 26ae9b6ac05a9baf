import { seededRandom } from "evaluator-kit/seeded-random";
import { createAccountBook, type KeySetup, type Tier } from "./accounts.ts";
import { answerRequest, printedDecimals } from "./answers/answer-request.ts";
import { type Rule, ruleOpinions } from "./answers/rules.ts";
import { Call, type Delivery, type EmulatorContext, type Side, type Unpack } from "./call.ts";
import { controlRoutes, createRequestLog } from "./control-routes.ts";
import { fetchBy, untilAborted } from "./deliver-by-fetch.ts";
import { createFaultBook } from "./faults/fault-book.ts";
import { checkFaults, type Fault } from "./faults/fault.ts";
import { gatewayRoutes } from "./gateway/gateway-routes.ts";
import { createLedger } from "./ledger.ts";
import { type Exchange, recordedAnswers } from "./recordings.ts";
import { serviceRoutes } from "./services/service-routes.ts";
import { createVendorGate, type VendorLimits } from "./vendor-limits.ts";
import { vendorRoutes } from "./vendor/vendor-routes.ts";

/** The options of an emulator that does not listen. */
export interface FetchEmulatorOptions {
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
  /** Exchanges whose answers come first. @default none */
  readonly exchanges?: readonly Exchange[];
  /** Answers that come after recorded exchanges and before the judge's. @default none */
  readonly rules?: readonly Rule[];
  /** The vendor's limits for a key; `true` for the real ones. @default no limits */
  readonly limits?: VendorLimits | true;
  /**
   * Decimal places of probabilities and scores; recorded answers have 2 at most.
   *
   * @default 2, and at other services than the gateway and the vendor their own
   */
  readonly decimals?: number;
  /** Whether choice and score answers carry a confidence. @default true */
  readonly confidence?: boolean;
  /** Faults that are played on purpose. @default none */
  readonly faults?: readonly Fault[];
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
  /** Waits for a latency; rejects if the signal aborts. @default a timer */
  readonly sleep?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** A gateway and a vendor in this process. */
export interface FetchEmulator {
  /** Answers a request in this process; any host will do, and a bare path. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Restores the initial accounts, ids and faults, and empties the request log. */
  reset(): void;
}

/**
 * Creates an emulator of the gateway and the vendor (contract section 4) that answers by `fetch` only.
 * It runs in browsers too, and plays no chat server.
 *
 * @throws {Error} names the rule or fault that is wrong, and the field.
 * @example
 * ```ts
 * const { fetch } = createEmulator();
 * const transport = gatewayTransport({ apiKey: "local", fetch });
 * ```
 */
export function createFetchEmulator(options: FetchEmulatorOptions = {}): FetchEmulator {
  const { answer, reset } = emulate(options);
  return { fetch: fetchBy(answer), reset };
}

/** The parts that only some emulators have. */
interface EmulatedParts {
  /** Returns a recorded judgement, or null. @default from the option `exchanges` */
  readonly recordedAnswers?: ReturnType<typeof recordedAnswers>;
  /** A chat server. @default none */
  readonly engine?: (emulatorContext: EmulatorContext) => Side;
  /** Reads packed bodies. @default they are not unpacked */
  readonly unpack?: Unpack;
}

/** Returns the function that answers all requests of an emulator, and its reset. */
export function emulate(options: FetchEmulatorOptions, parts: EmulatedParts = {}) {
  const { tier = "paid", seed = 1, clock = Date.now, sleep = sleepUntilAborted } = options;
  const { decimals, confidence = true, exchanges = [], rules = [] } = options;
  if (decimals !== undefined && !(Number.isInteger(decimals) && decimals >= 0 && decimals <= 15)) {
    throw new RangeError("decimals is a whole number from 0 to 15.");
  }
  const limits = readLimits(options);
  const vendorGate = limits === null ? null : createVendorGate(limits);
  const accounts = createAccountBook(tier, options.keys);
  const ledger = createLedger();
  const faults = createFaultBook(checkFaults(options.faults ?? []), seed, sleep);
  const requests = createRequestLog(accounts, clock);
  const { recordedAnswers: recordedAction = recordedAnswers(exchanges) } = parts;
  const ruledAction = ruleOpinions(rules);
  let nextId = createIds(seed);
  const emulatorContext: EmulatorContext = {
    accounts,
    ledger,
    vendorGate,
    clock,
    answer: (evaluationInput, own = printedDecimals) => {
      const printedParts = { decimals: decimals ?? own, isExact: decimals === undefined };
      return answerRequest(evaluationInput, {
        recorded: recordedAction,
        ruled: ruledAction,
        confidence,
        ...printedParts,
      });
    },
    nextId: () => nextId(),
  };

  function reset(): void {
    for (const part of [accounts, ledger, vendorGate, faults, requests]) part?.reset();
    nextId = createIds(seed);
  }
  const control = controlRoutes({ accounts, faults, requests, reset });
  const engine = parts.engine?.(emulatorContext);
  const vendor = vendorRoutes(emulatorContext); // its paths; all others are the gateway's
  const services = serviceRoutes(emulatorContext);
  const gateway = gatewayRoutes(emulatorContext);
  const route = async (emulatedCall: Call) =>
    (await engine?.(emulatedCall)) ??
    (await vendor(emulatedCall)) ??
    (await services(emulatedCall)) ??
    (await gateway(emulatedCall));

  async function answer(request: Request, delivery: Delivery): Promise<Response> {
    const emulatedCall = new Call(request, delivery, parts.unpack);
    // An abort during a latency rejects with the caller's reason; it is not a response.
    const play = () =>
      requests.play(emulatedCall, () => faults.play(emulatedCall, () => route(emulatedCall)));
    return (await control(emulatedCall)) ?? (await play());
  }
  return { answer, reset };
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const idLength = 26;

/** Returns a sequence of ids of 26 letters and digits; the same seed gives the same sequence. */
function createIds(seed: number): () => string {
  const random = seededRandom(seed);
  const draw = () => alphabet[(random() * 2 ** 32) % alphabet.length];
  return () => Array.from({ length: idLength }, draw).join("");
}

function readLimits({ limits }: FetchEmulatorOptions): VendorLimits | null {
  if (limits === undefined) return null;
  if (limits === true) return {};
  const wrong = Object.entries(limits).find(([, limit]) => !(Number.isInteger(limit) && limit > 0));
  if (wrong === undefined) return limits;
  throw new RangeError(`limits.${wrong[0]} is a whole number from 1 up.`);
}

async function sleepUntilAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, delayMs);
  await Promise.race([promise, untilAborted(signal)]).finally(() => clearTimeout(timer));
}
