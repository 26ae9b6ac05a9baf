import { setTimeout as wait } from "node:timers/promises";
import { Hono } from "hono";
import { createAccountBook, type KeySetup, type Tier } from "./accounts.ts";
import { answerRequest, type Printing } from "./answers/answer-request.ts";
import type { AnswerSource } from "./answers/judgement.ts";
import { printedDecimals } from "./answers/print-answer.ts";
import type { CallEnvironment, Delivery } from "./call.ts";
import { controlRoutes } from "./control-routes.ts";
import { deliverByFetch } from "./deliver.ts";
import { type EngineName, engineRoutes } from "./engine/engine-routes.ts";
import { createFaultBook } from "./faults/fault-book.ts";
import { checkFaults, type Fault } from "./faults/fault.ts";
import { playFaults, type Sleep } from "./faults/play-faults.ts";
import { gatewayRoutes } from "./gateway/gateway-routes.ts";
import { createGenerationLog } from "./generations.ts";
import { type Exchange, loadExchanges, recordedAnswers } from "./recordings.ts";
import { createRequestLog, logRequests } from "./request-log.ts";
import { ruleAnswers } from "./rules/rule-answers.ts";
import { checkRules, type Rule } from "./rules/rule.ts";
import { createSpendLedger } from "./spend-report.ts";
import { createIds } from "./seeded.ts";
import { type Certificate, selfSignedCertificate } from "evaluator-kit";
import { type Listener, serve } from "./serve.ts";
import { createVendorGate, type VendorLimits } from "./vendor-limits.ts";
import { vendorRoutes } from "./vendor/vendor-routes.ts";

/** How an emulator is set up. */
export interface EmulatorOptions {
  /** The tier of every account that does not name its own. @default "paid" */
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
  /** The chat server that is played as well, with log-probabilities made from the judge. @default none */
  readonly engine?: EngineName;
  /** What the vendor lets through for a key; `true` for its own limits. @default no limits */
  readonly limits?: VendorLimits | true;
  /** Decimal places of probabilities and scores; recorded answers have 2 at most. @default 2 */
  readonly decimals?: number;
  /** Whether choice and score answers carry a confidence. @default true */
  readonly confidence?: boolean;
  /** What goes wrong on purpose. @default nothing */
  readonly faults?: readonly Fault[];
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
  /** Waits for a latency; rejects when the signal aborts. @default a timer */
  readonly sleep?: Sleep;
}

/** Where a listening emulator is reached. */
export interface EmulatorAddress {
  readonly origin: string;
  /** For the gateway's clients; ends in `/v4/ai`. */
  readonly gatewayBaseUrl: string;
  /** For the vendor's clients; ends in `/direct`. */
  readonly directBaseUrl: string;
  /** The certificate to trust, in PEM; null over HTTP. */
  readonly certificate: string | null;
}

/** Where to listen. */
export interface ListenOptions {
  /** Other than loopback only with `allowedHosts`. @default "127.0.0.1" */
  readonly host?: string;
  /** @default 0, any free port */
  readonly port?: number;
  /** Names under which it may be called besides those of this machine. @default none */
  readonly allowedHosts?: readonly string[];
  /** Serves HTTPS; `true` makes a certificate for this machine and the allowed hosts. @default HTTP */
  readonly tls?: Certificate | true;
}

/** A gateway and a vendor on this machine. */
export interface Emulator {
  /** Answers a request in this process; any host will do, and a bare path. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /**
   * Listens for HTTP or HTTPS on this machine.
   *
   * @throws {Error} when the port is taken, the host is not loopback, or it already listens.
   */
  listen(options?: ListenOptions): Promise<EmulatorAddress>;
  /** Forgets all calls: new accounts, ids and faults from the start, an empty request log. */
  reset(): void;
  /** Stops listening; `fetch` still works. */
  close(): Promise<void>;
}

/**
 * Creates an emulator of the gateway and the vendor (contract section 4).
 *
 * @throws {Error} when a rule or a fault is not one; names it and the field.
 * @example
 * ```ts
 * const emulator = createEmulator();
 * const { gatewayBaseUrl } = await emulator.listen();
 * ```
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { app, reset } = assemble(options);
  const answer = async (request: Request, delivery: Delivery) =>
    await app.fetch(request, { delivery });
  let listener: Listener | null = null;
  // The signal of a request that is collected as garbage never aborts, whoever listens to it.
  const underWay = new Set<unknown>();
  return {
    async fetch(input, init) {
      const request = new Request(toRequestInput(input), init);
      request.signal.throwIfAborted();
      const delivery: Delivery = { ending: "whole", hasResponse: true };
      const call = [input, request];
      underWay.add(call);
      try {
        return await deliverByFetch(await answer(request, delivery), request.signal, delivery);
      } finally {
        underWay.delete(call);
      }
    },
    async listen({ host = "127.0.0.1", port = 0, allowedHosts = [], tls: given } = {}) {
      if (listener !== null) throw new Error("The emulator already listens; close it first.");
      const tls = given === true ? selfSignedCertificate(allowedHosts) : (given ?? null);
      listener = await serve(answer, { host, port, allowedHosts, tls });
      const { origin } = listener;
      const certificate = tls?.cert ?? null;
      const gatewayBaseUrl = `${origin}/v4/ai`;
      return { origin, gatewayBaseUrl, directBaseUrl: `${origin}/direct`, certificate };
    },
    reset,
    async close() {
      await listener?.close();
      listener = null;
    },
  };
}

let answersOfOwn: AnswerSource | null = null;

/** The answers of the exchanges that come with the emulator, read once. */
function ownAnswers(): AnswerSource {
  return (answersOfOwn ??= recordedAnswers(loadExchanges()));
}

/** Puts the parts together: the controls, then the request log, the faults and both sides. */
function assemble(options: EmulatorOptions): { app: Hono<CallEnvironment>; reset: () => void } {
  const { tier = "paid", seed = 1, clock = Date.now, sleep = sleepUntilAborted } = options;
  const printing = readPrinting(options);
  const limits = readLimits(options);
  const vendorGate = limits === null ? null : createVendorGate(limits);
  const accounts = createAccountBook(tier, options.keys);
  const generations = createGenerationLog();
  const spending = createSpendLedger();
  const faults = createFaultBook(checkFaults(options.faults ?? []), seed);
  const requests = createRequestLog();
  const sources = [
    options.exchanges === undefined ? ownAnswers() : recordedAnswers(options.exchanges),
    ruleAnswers(checkRules(options.rules ?? [])),
  ];
  let nextId = createIds(seed);
  const context = {
    accounts,
    generations,
    spending,
    vendorGate,
    clock,
    answer: (input: Parameters<typeof answerRequest>[0]) => answerRequest(input, sources, printing),
    nextId: () => nextId(),
  };

  function reset(): void {
    for (const part of [accounts, generations, spending, vendorGate, faults, requests])
      part?.reset();
    nextId = createIds(seed);
  }
  const app = new Hono<CallEnvironment>();
  app.route("/", controlRoutes({ accounts, faults, requests, reset }));
  app.use(logRequests(requests, { accounts, clock }), playFaults(faults, sleep));
  if (options.engine !== undefined) app.route("/", engineRoutes(options.engine, context));
  app.route("/", vendorRoutes(context)); // its paths; all others are the gateway's
  app.route("/", gatewayRoutes(context));
  // What ends a latency is the caller's own reason, not an answer.
  app.onError((error) => {
    throw error;
  });
  return { app, reset };
}

function readPrinting({
  decimals = printedDecimals,
  confidence = true,
}: EmulatorOptions): Printing {
  if (Number.isInteger(decimals) && decimals >= 0 && decimals <= 15)
    return { decimals, confidence };
  throw new RangeError("decimals is a whole number from 0 to 15.");
}

function readLimits({ limits }: EmulatorOptions): VendorLimits | null {
  if (limits === undefined) return null;
  if (limits === true) return {};
  const wrong = Object.entries(limits).find(([, limit]) => !(Number.isInteger(limit) && limit > 0));
  if (wrong === undefined) return limits;
  throw new RangeError(`limits.${wrong[0]} is a whole number from 1 up.`);
}

function toRequestInput(input: string | URL | Request): URL | Request {
  return input instanceof Request ? input : new URL(input, "http://127.0.0.1");
}

const sleepUntilAborted: Sleep = async (ms, signal) => {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
};
