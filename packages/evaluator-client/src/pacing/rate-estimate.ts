import { IN_A_ROW } from "./call-queue.ts";

// Refusals beyond the tolerated share that start an experiment: with five, strays slow 64 calls down.
const ALARM = 6;
// The share of refusals that needs no lower rate, and the smallest step: more throttles over 2 %.
const TOLERATED = 0.02;
// The cut of an experiment, the largest step and the most strays: if the cut is smaller, a limit goes
// on to refuse in an experiment and looks like strays.
const QUARTER = 0.25;
// Successes that measure a rate: from fewer, it is off by more than a quarter.
const ENOUGH = 20;
// How long a rate is held before it rises: for less, a bucket's burst hides that it is too high.
const HOLD_MS = 1000;

/** The refusals since an attempt, with its number, its time and the successes before it. */
interface Evidence {
  readonly from: number;
  readonly sinceMs: number;
  readonly successes: number;
  refused: number;
}

/** A trial of a lower rate, which shows whether the refusals end. */
interface Experiment extends Evidence {
  /** Before the trial: the share that was refused, and the rate that succeeded. */
  readonly share: number;
  readonly succeededPerMs: number;
  /** Attempts sent at the lower rate that succeeded. */
  answered: number;
  /** Whether the refusals ended, which shows a limit. They are watched on below the old rate. */
  readonly isLimit: boolean;
}

/**
 * Estimates the rate of a service that does not announce its limit from the attempts that it
 * refused (429, 503). A refusal is a stray, which has no relation to the rate, or shows a limit.
 *
 * Refusals in a row pause all calls. More than the tolerated share start an experiment at a lower
 * rate: if they go on, they are strays, and the rate returns; if they end, it is a limit. Near a
 * limit the rate moves by small steps, up after successes and down after a refusal.
 *
 * Times are milliseconds without pauses and without times in which no call is in flight or waiting.
 */
export class RateEstimate {
  /** The least time between two attempts, in milliseconds; 0 while no limit is known. */
  intervalMs = 0;
  isLimited = false;
  /** Attempts per millisecond; infinite while no limit is known. */
  #perMs = Number.POSITIVE_INFINITY;
  #sent = 0;
  #successes = 0;
  readonly #lastSuccessesAtMs = new Float64Array(ENOUGH);
  /** The refused attempts since the last success, in the order of sending. */
  readonly #refused = new Set<number>();
  /** Refusals beyond the tolerated share. */
  #score = 0;
  #evidence: Evidence = { from: 0, sinceMs: 0, successes: 0, refused: 0 };
  #experiment: Experiment | null = null;
  /** Attempts before this one were sent before the last cut. */
  #cutAt = 0;
  /** The share of strays, and the attempt from which it is doubted. */
  #strays = { share: 0, until: 0 };
  #step = TOLERATED;
  /** Since when the rate holds; `balance`: the successes less the weighted refusals since. */
  #held = { from: 0, sinceMs: 0, successes: 0, balance: 0 };
  /** The lowest rate that small steps reach, and the lowest that was refused. */
  #range = { floorPerMs: 0, ceilingPerMs: Number.POSITIVE_INFINITY };
  /** The rate that succeeded before the pause, or null if it was not measured. */
  #beforePausePerMs: number | null = null;
  /** When the last pause ended, how long it was, and the successes before. */
  #period = { startedAtMs: 0, pausedMs: 0, successes: 0 };

  /** Whether few of the latest attempts were refused. */
  get isSteady(): boolean {
    return this.#score < 1;
  }

  /** Counts an attempt that is sent; returns its number. */
  sent(): number {
    const attempt = this.#sent;
    const strays = attempt < this.#strays.until ? this.#strays.share : 0;
    this.#sent += 1;
    this.#score = Math.max(0, this.#score - TOLERATED - 2 * strays);
    return attempt;
  }

  succeeded(attempt: number, nowMs: number): void {
    this.#lastSuccessesAtMs[this.#successes % ENOUGH] = nowMs;
    this.#successes += 1;
    // A loop over an empty set would still allocate an iterator on each success.
    if (this.#refused.size > 0) this.#forgetRefusedBefore(attempt);
    if (!this.isLimited || attempt < this.#cutAt) return;
    if (this.#experiment?.isLimit === false) this.#concludeLimit(this.#experiment, nowMs);
    else if (attempt >= this.#held.from) this.#weigh(1, nowMs);
  }

  /** An attempt was refused; returns whether every call must pause. */
  refused(attempt: number, nowMs: number): boolean {
    if (attempt < this.#cutAt) return false;
    if (this.#refusedInARow(attempt) >= IN_A_ROW) {
      this.#strays = { share: 0, until: 0 };
      const isKnown = this.#successes >= ENOUGH;
      this.#beforePausePerMs = isKnown ? this.#succeededPerMs(this.#evidence, nowMs) : null;
      return true;
    }
    const isTrying = this.#experiment?.isLimit === false;
    if (this.#score === 0 && !isTrying) this.#evidence = this.#from(attempt, nowMs);
    this.#evidence.refused += 1;
    this.#score += 1;
    if (this.#experiment !== null) this.#judge(this.#experiment, nowMs);
    if (isTrying) return false;
    if (this.#score >= ALARM && (this.isLimited || this.#successes >= ENOUGH))
      this.#tryLower(this.#evidence, nowMs);
    else if (this.isLimited && attempt >= this.#held.from) {
      this.#weigh(-1 / (TOLERATED / 2 + 2 * this.#strays.share), nowMs);
    }
    return false;
  }

  /** A pause is over, since an attempt succeeded. If no other one did, nothing is known about a rate. */
  reopened(nowMs: number, pausedMs: number): void {
    const last = this.#period;
    const count = this.#successes - last.successes;
    const beforePausePerMs = this.#beforePausePerMs ?? this.#perMs;
    this.#period = { startedAtMs: nowMs, pausedMs, successes: this.#successes };
    this.#range = { floorPerMs: 0, ceilingPerMs: Math.min(this.#perMs, beforePausePerMs) };
    // For a window that is used up: the successes over the whole period, including its pause.
    const throughPerMs =
      count / (nowMs - last.startedAtMs + (this.isLimited ? last : this.#period).pausedMs);
    if (this.isLimited) {
      const lowerPerMs = (1 - QUARTER) * this.#perMs;
      const isMeasured = throughPerMs > lowerPerMs && count >= ENOUGH;
      this.#cutTo(Math.max(throughPerMs, lowerPerMs), isMeasured ? TOLERATED : QUARTER / 2, nowMs);
    } else if (this.#beforePausePerMs !== null) {
      this.#cutTo((1 - QUARTER) * beforePausePerMs, QUARTER / 2, nowMs);
    } else if (count > 1) this.#cutTo(Math.max(throughPerMs, 1 / HOLD_MS), 1, nowMs);
  }

  /** Adds a refused attempt; returns how many refusals in a row it is part of. */
  #refusedInARow(attempt: number): number {
    this.#refused.add(attempt);
    let count = 1;
    for (let next = attempt + 1; this.#refused.has(next); next += 1) count += 1;
    for (let next = attempt - 1; this.#refused.has(next); next -= 1) count += 1;
    return count;
  }

  #forgetRefusedBefore(attempt: number): void {
    for (const refused of this.#refused) if (refused < attempt) this.#refused.delete(refused);
  }

  #from(from: number, sinceMs: number): Evidence {
    return { from, sinceMs, successes: this.#successes, refused: 0 };
  }

  #tryLower(evidence: Evidence, nowMs: number): void {
    const seen = evidence.refused / (this.#sent - evidence.from);
    const share = Math.min(seen, this.#strays.share || seen);
    // More are no strays: even a few successes beside them measure the limit.
    const enough = seen > QUARTER ? 2 : ENOUGH;
    const lowestPerMs = this.isLimited ? this.#perMs / 2 : 0;
    const measuredPerMs = this.#succeededPerMs(evidence, nowMs, enough);
    const succeededPerMs = Math.max(lowestPerMs, Math.min(this.#perMs, measuredPerMs));
    this.#range = { floorPerMs: 0, ceilingPerMs: succeededPerMs };
    this.#score = 0;
    this.#cutTo((1 - QUARTER) * succeededPerMs, this.#step, nowMs);
    const before = { share, succeededPerMs, answered: 0, isLimit: false };
    this.#experiment = { ...this.#from(this.#sent, nowMs), ...before };
  }

  /** The lower rate is refused as well: strays, if the share is similar, or still too high a rate. */
  #judge(experiment: Experiment, nowMs: number): void {
    const { isLimit } = experiment;
    experiment.refused += 1;
    const share = experiment.refused / (this.#sent - experiment.from);
    const enough = isLimit || share > QUARTER ? ALARM : ALARM / 2;
    // Until an attempt succeeds, the rest of a used-up window is refused at any rate.
    if (experiment.refused < enough || experiment.answered === 0) return;
    const isSimilar = share >= (isLimit ? 2 * TOLERATED : experiment.share / 2);
    if (isSimilar && share <= QUARTER) {
      this.#learnStrays(isLimit ? experiment : this.#evidence);
      this.#score = 0;
      this.#cutTo(Number.POSITIVE_INFINITY, TOLERATED, nowMs);
    } else if (!isLimit) this.#tryLower(experiment, nowMs);
  }

  /** The refusals ended, once {@link ALARM} of them would have been due. */
  #concludeLimit(experiment: Experiment, nowMs: number): void {
    experiment.answered += 1;
    if (this.#sent - experiment.from < ALARM / experiment.share) return;
    this.#learnStrays(experiment);
    this.#range.floorPerMs = (1 - QUARTER / 2) * experiment.succeededPerMs;
    this.#cutTo(this.#range.floorPerMs, 2 * TOLERATED, nowMs);
    this.#experiment = { ...experiment, isLimit: true };
  }

  #learnStrays({ refused, from }: Evidence): void {
    const attempts = this.#sent - from;
    // Few attempts show little, so others that were not refused are added to them.
    const share = refused / (attempts + 1 / TOLERATED);
    this.#strays = { share, until: this.#sent + 10 * Math.max(attempts, 100) };
  }

  #cutTo(perMs: number, step: number, nowMs: number): void {
    this.#experiment = null;
    this.#refused.clear();
    this.#cutAt = this.#sent;
    this.#stepTo(perMs, step, nowMs);
  }

  #stepTo(perMs: number, step: number, nowMs: number): void {
    this.#perMs = perMs;
    this.intervalMs = 1 / perMs;
    this.isLimited = perMs !== Number.POSITIVE_INFINITY;
    this.#step = step;
    this.#held = { from: this.#sent, sinceMs: nowMs, successes: this.#successes, balance: 0 };
  }

  /** Moves the rate after enough successes or refusals; near a limit 1 % of the attempts are refused. */
  #weigh(by: number, nowMs: number): void {
    const enough = 2 / this.#step;
    this.#held.balance = Math.min(enough, this.#held.balance + by);
    if (this.#held.balance <= -enough) {
      const perMs = Math.max(this.#range.floorPerMs, this.#perMs / (1 + this.#step));
      this.#range.ceilingPerMs = this.#perMs;
      // The refusals so far belong to the higher rate. After a small step they still count.
      if (this.#step > TOLERATED) this.#score = 0;
      this.#stepTo(perMs, Math.max(TOLERATED, this.#step / 4), nowMs);
    } else if (this.#held.balance === enough && nowMs - this.#held.sinceMs >= HOLD_MS) {
      this.#rise(nowMs);
    }
  }

  /** Raises the rate if it was used; in larger steps above the lowest rate that was refused. */
  #rise(nowMs: number): void {
    const { sinceMs, successes } = this.#held;
    const isUsed = this.#successes - successes >= (1 - QUARTER) * this.#perMs * (nowMs - sinceMs);
    const perMs = isUsed ? this.#perMs * (1 + this.#step) : this.#perMs;
    const most = Math.max(QUARTER, this.#step);
    const step =
      perMs > (1 + QUARTER / 2) * this.#range.ceilingPerMs
        ? Math.min(most, 2 * this.#step)
        : this.#step;
    this.#stepTo(perMs, step, nowMs);
    if (perMs > this.#range.ceilingPerMs) this.#experiment = null;
  }

  /** The rate that succeeded since some attempt, or of the last {@link ENOUGH} successes. */
  #succeededPerMs({ successes, sinceMs }: Evidence, nowMs: number, enough = ENOUGH): number {
    const count = this.#successes - successes;
    if (count >= enough) return count / (nowMs - sinceMs);
    const oldestAtMs = this.#lastSuccessesAtMs[this.#successes % ENOUGH] as number;
    return ENOUGH / Math.max(1, nowMs - oldestAtMs);
  }
}
