import type { Caller, RequestFollower } from "../service/model-service.ts";
import { estimateUsd } from "../service/answer.ts";
import type { World } from "../world.ts";
import { mailIn } from "./mail-source.ts";

// The run estimates a request without the form of its body, some characters shorter.
const ESTIMATED_ALIKE = 0.95;

interface JournalOptions {
  readonly world: World;
  /** US dollars; Infinity for no limit. */
  readonly maxUsd: number;
  readonly concurrency: number;
  /** Whether the journal has the call about a mail as begun. */
  readonly isBegun: (mail: number) => boolean;
}

/** Follows one run with a journal: a call is noted before it is sent, and fits into the budget. */
export class JournalCalls implements RequestFollower {
  readonly #options: JournalOptions;
  /** The mails that it has asked about. */
  readonly asked = new Set<number>();
  #spentUsd = 0;
  #answers = 0;
  /** The highest cost of a call, as the run expects it, in US dollars. */
  #mostUsd = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  sent(_caller: Caller, body: string): void {
    const { world, isBegun } = this.#options;
    const mail = mailIn(body);
    const seen = () => `the call about mail ${mail} is sent and not noted in the journal`;
    world.checks.expect("money", isBegun(mail), seen);
    if (!this.asked.has(mail)) this.#checkBudget(body);
    this.asked.add(mail);
    this.#mostUsd = Math.max(this.#mostUsd, estimateUsd(body));
  }

  /** A run that its budget stopped has left less than its calls in flight and one more cost. */
  stopped(): void {
    const { world, maxUsd, concurrency } = this.#options;
    const leftUsd = maxUsd - this.#spentUsd;
    // An answer costs at most twice its estimate, and so does the longest mail.
    const isSpent = this.#answers === 0 || leftUsd <= 2 * concurrency * this.#mostUsd;
    world.checks.expect("budget", isSpent, () => `a run stops with ${leftUsd} of ${maxUsd} left`);
  }

  /** A call fits into what is left of the budget, but for answers that came since it was allowed. */
  #checkBudget(body: string): void {
    const { world, maxUsd, concurrency } = this.#options;
    const averageUsd = concurrency > 1 ? 0 : this.#spentUsd / Math.max(1, this.#answers);
    const callUsd = Math.max(ESTIMATED_ALIKE * estimateUsd(body), averageUsd);
    const sinceUsd = 2 * (concurrency - 1) * this.#mostUsd;
    const isWithin = this.#spentUsd + callUsd <= maxUsd + sinceUsd + 1e-12;
    const seen = () => `${this.#spentUsd} spent and a call of ${callUsd} > ${maxUsd}`;
    world.checks.expect("budget", isWithin, seen);
  }

  ended(_caller: Caller, _body: string, usd: number | null): void {
    if (usd === null || usd === 0) return;
    this.#spentUsd += usd;
    this.#answers += 1;
  }
}
