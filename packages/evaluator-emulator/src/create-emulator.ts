import { loadExchanges, type Exchange } from "evaluator-fixtures";
import type { Tier } from "./accounts/account.ts";
import { createAccountBook } from "./accounts/account-book.ts";
import { answerRequest } from "./answers/answer-request.ts";
import { createIds } from "./create-ids.ts";
import { emulatorApp } from "./emulator-app.ts";
import { createGenerationLog } from "./gateway/generation-log.ts";
import { recordedAnswers } from "./recordings/recorded-answers.ts";
import { listen, type Listener } from "./server/listen.ts";

/** How an emulator is set up. */
export interface EmulatorOptions {
  /** The tier of every account. @default "paid" */
  readonly tier?: Tier;
  /** Decides the generated ids; the same seed and requests give the same ones. @default 1 */
  readonly seed?: number;
  /** Accepted keys, for both sides. @default any key at the gateway, none needed at the vendor */
  readonly keys?: readonly string[];
  /** Exchanges whose answers come before the judge's. @default those of `evaluator-fixtures` */
  readonly exchanges?: readonly Exchange[];
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
}

/** Where a listening emulator is reached. */
export interface EmulatorAddress {
  readonly origin: string;
  /** For the gateway's clients; ends in `/v4/ai`. */
  readonly gatewayBaseUrl: string;
  /** For the vendor's clients; ends in `/direct`. */
  readonly directBaseUrl: string;
}

/** A gateway and a vendor on this machine. */
export interface Emulator {
  /** Answers a request in this process; any host will do, and a bare path. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /**
   * Listens for HTTP on this machine.
   *
   * @throws {Error} when the port is taken, the host is not loopback, or it already listens.
   */
  listen(options?: { host?: string; port?: number }): Promise<EmulatorAddress>;
  /** Forgets all calls: new accounts, ids from the start. */
  reset(): void;
  /** Stops listening; `fetch` still works. */
  close(): Promise<void>;
}

/**
 * Creates an emulator of the gateway and the vendor (contract section 4).
 *
 * @example
 * ```ts
 * const emulator = createEmulator();
 * const { gatewayBaseUrl } = await emulator.listen();
 * ```
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { tier = "paid", seed = 1, keys, clock = Date.now } = options;
  const accounts = createAccountBook(tier, keys);
  const generations = createGenerationLog();
  const sources = [recordedAnswers(options.exchanges ?? loadExchanges())];
  let nextId = createIds(seed);
  let listener: Listener | null = null;
  const app = emulatorApp({
    accounts,
    generations,
    clock,
    answer: (input) => answerRequest(input, sources),
    nextId: () => nextId(),
  });

  return {
    async fetch(input, init) {
      const request = new Request(toRequestInput(input), init);
      request.signal.throwIfAborted();
      return await app.fetch(request);
    },
    async listen({ host = "127.0.0.1", port = 0 } = {}) {
      if (listener !== null) throw new Error("The emulator already listens; close it first.");
      listener = await listen((request) => app.fetch(request), { host, port });
      const { origin } = listener;
      return { origin, gatewayBaseUrl: `${origin}/v4/ai`, directBaseUrl: `${origin}/direct` };
    },
    reset() {
      accounts.reset();
      generations.reset();
      nextId = createIds(seed);
    },
    async close() {
      await listener?.close();
      listener = null;
    },
  };
}

function toRequestInput(input: string | URL | Request): URL | Request {
  return input instanceof Request ? input : new URL(input, "http://127.0.0.1");
}
