import { setTimeout as wait } from "node:timers/promises";
import { loadExchanges } from "evaluator-fixtures";
import { createAccountBook } from "./accounts/account-book.ts";
import { answerRequest } from "./answers/answer-request.ts";
import { bothSides } from "./both-sides.ts";
import { control, isControlPath } from "./control/control.ts";
import { createIds } from "./create-ids.ts";
import type { EmulatorOptions } from "./emulator-options.ts";
import { checkFaults } from "./faults/check-faults.ts";
import { createFaultBook } from "./faults/fault-book.ts";
import { withFaults, type Sleep } from "./faults/with-faults.ts";
import { createGenerationLog } from "./gateway/generation-log.ts";
import { createJournal } from "./journal/journal.ts";
import { withJournal } from "./journal/with-journal.ts";
import { recordedAnswers } from "./recordings/recorded-answers.ts";
import { checkRules } from "./rules/check-rules.ts";
import { ruleAnswers } from "./rules/rule-answers.ts";
import type { Deliver } from "./server/delivery.ts";
import { fetchCall } from "./server/fetch-call.ts";
import { listen, type Listener } from "./server/listen.ts";
import { sendByFetch } from "./server/send-by-fetch.ts";

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
  /** Forgets all calls: new accounts, ids and faults from the start, an empty journal. */
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
  const { deliver, reset } = assemble(options);
  let listener: Listener | null = null;
  return {
    async fetch(input, init) {
      const request = new Request(toRequestInput(input), init);
      request.signal.throwIfAborted();
      const delivery = await deliver(fetchCall(request));
      return await sendByFetch(request, delivery);
    },
    async listen({ host = "127.0.0.1", port = 0 } = {}) {
      if (listener !== null) throw new Error("The emulator already listens; close it first.");
      listener = await listen(deliver, { host, port });
      const { origin } = listener;
      return { origin, gatewayBaseUrl: `${origin}/v4/ai`, directBaseUrl: `${origin}/direct` };
    },
    reset,
    async close() {
      await listener?.close();
      listener = null;
    },
  };
}

/** Puts the parts together: both sides, behind faults, behind the journal, beside the controls. */
function assemble(options: EmulatorOptions): { deliver: Deliver; reset: () => void } {
  const { tier = "paid", seed = 1, clock = Date.now, sleep = sleepUntilAborted } = options;
  const accounts = createAccountBook(tier, options.keys);
  const generations = createGenerationLog();
  const faults = createFaultBook(checkFaults(options.faults ?? []), seed);
  const journal = createJournal();
  const sources = [
    recordedAnswers(options.exchanges ?? loadExchanges()),
    ruleAnswers(checkRules(options.rules ?? [])),
  ];
  let nextId = createIds(seed);
  const answerBoth = bothSides({
    accounts,
    generations,
    clock,
    answer: (input) => answerRequest(input, sources),
    nextId: () => nextId(),
  });

  function reset(): void {
    for (const part of [accounts, generations, faults, journal]) part.reset();
    nextId = createIds(seed);
  }
  const serve = withJournal(withFaults(answerBoth, faults, sleep), journal, { accounts, clock });
  const steer = control({ accounts, faults, journal, reset });
  const deliver: Deliver = async (call) =>
    isControlPath(call.path) ? { ending: "whole", reply: await steer(call) } : serve(call);
  return { deliver, reset };
}

function toRequestInput(input: string | URL | Request): URL | Request {
  return input instanceof Request ? input : new URL(input, "http://127.0.0.1");
}

const sleepUntilAborted: Sleep = async (ms, signal) => {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
};
