import type { Caller, RequestFollower } from "../service/model-service.ts";
import { estimateUsd, mostUsd } from "../service/answer.ts";
import type { World } from "../world.ts";
import { mailIn } from "./mail-source.ts";

interface JournalOptions {
  readonly world: World;
  /** US dollars; Infinity for no limit. */
  readonly maxUsd: number;
  /** Returns what the service has charged for since a run was complete, lost answers included, in US dollars. */
  readonly billedUsd: () => number;
  /** What earlier tries spent, as the journal has it, and how many of their calls have no end. */
  readonly earlier: { readonly usd: number; readonly begun: number };
  /** Whether the journal has the call about a mail as begun. */
  readonly isBegun: (mail: number) => boolean;
}

/** Follows one run with a journal: a call is noted before it is sent, and all attempts fit into the budget. */
export class JournalCalls implements RequestFollower {
  readonly #options: JournalOptions;
  /** The mails that it has asked about. */
  readonly asked = new Set<number>();
  /** The estimated cost of its attempts without an answer, and the most that they may cost, in US dollars. */
  lostUsd = 0;
  #mostLostUsd = 0;
  #spentUsd = 0;
  /** The most that a call may cost. */
  #mostUsd = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  sent(_caller: Caller, body: string): void {
    const { world, isBegun } = this.#options;
    const mail = mailIn(body);
    const seen = () => `the call about mail ${mail} is sent and not noted in the journal`;
    world.checks.expect("money", isBegun(mail), seen);
    this.asked.add(mail);
    this.#count(body, 1);
    this.#mostUsd = Math.max(this.#mostUsd, mostUsd(body));
  }

  #count(body: string, attempts: number): void {
    this.lostUsd += attempts * estimateUsd(body);
    this.#mostLostUsd += attempts * mostUsd(body);
  }

  /** A run that its budget stopped could not pay for one more call, if each lost attempt costs its most. */
  stopped(): void {
    const { world, maxUsd, earlier } = this.#options;
    const leftUsd = maxUsd - earlier.usd - this.#spentUsd - this.#mostLostUsd;
    // The call that is held back may be longer than each one before it, and so may those of earlier tries.
    const isSpent = this.asked.size === 0 || leftUsd <= 2 * (1 + earlier.begun) * this.#mostUsd;
    world.checks.expect("budget", isSpent, () => `a run stops with ${leftUsd} of ${maxUsd} left`);
  }

  ended(_caller: Caller, body: string, usd: number | null): void {
    const { world, maxUsd, billedUsd } = this.#options;
    if (usd !== null) {
      this.#count(body, -1);
      this.#spentUsd += usd;
    }
    const isWithin = billedUsd() <= maxUsd + 1e-12;
    const seen = () => `the service charged for ${billedUsd()}, lost answers included > ${maxUsd}`;
    world.checks.expect("budget", isWithin, seen);
  }
}
