import type { Caller, RequestFollower } from "../service/model-service.ts";
import { estimateUsd } from "../service/answer.ts";
import type { World } from "../world.ts";
import { mailIn } from "./mail-source.ts";

interface JournalOptions {
  readonly world: World;
  /** US dollars; Infinity for no limit. */
  readonly maxUsd: number;
  /** Returns what the service has charged for since a run was complete, lost answers included, in US dollars. */
  readonly billedUsd: () => number;
  /** Whether a try ended without its calls in flight, which are then known by their estimate only. */
  readonly wasCutOff: () => boolean;
  /** Whether the journal has the call about a mail as begun. */
  readonly isBegun: (mail: number) => boolean;
}

/** Follows one run with a journal: a call is noted before it is sent, and all attempts fit into the budget. */
export class JournalCalls implements RequestFollower {
  readonly #options: JournalOptions;
  /** The mails that it has asked about. */
  readonly asked = new Set<number>();
  /** The estimated cost of all its attempts, in US dollars. */
  sentUsd = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  sent(_caller: Caller, body: string): void {
    const { world, isBegun } = this.#options;
    const mail = mailIn(body);
    const seen = () => `the call about mail ${mail} is sent and not noted in the journal`;
    world.checks.expect("money", isBegun(mail), seen);
    this.asked.add(mail);
    this.sentUsd += estimateUsd(body);
  }

  ended(): void {
    const { world, maxUsd, billedUsd, wasCutOff } = this.#options;
    const isWithin = billedUsd() <= maxUsd + 1e-12 || wasCutOff();
    const seen = () => `the service charged for ${billedUsd()}, lost answers included > ${maxUsd}`;
    world.checks.expect("budget", isWithin, seen);
  }
}
