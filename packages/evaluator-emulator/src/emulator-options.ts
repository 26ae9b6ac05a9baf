import type { Exchange } from "evaluator-fixtures";
import type { KeySetup } from "./accounts/account-book.ts";
import type { Tier } from "./accounts/account.ts";
import type { Fault } from "./faults/fault.ts";
import type { Sleep } from "./faults/with-faults.ts";
import type { Rule } from "./rules/rule.ts";

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
  /** Exchanges whose answers come first. @default those of `evaluator-fixtures` */
  readonly exchanges?: readonly Exchange[];
  /** Answers that come after recorded exchanges and before the judge's. @default none */
  readonly rules?: readonly Rule[];
  /** What goes wrong on purpose. @default nothing */
  readonly faults?: readonly Fault[];
  /** The time in epoch milliseconds. @default Date.now */
  readonly clock?: () => number;
  /** Waits for a latency; rejects when the signal aborts. @default a timer */
  readonly sleep?: Sleep;
}
