import { IN_A_ROW } from "./call-queue.ts";

// The share of refusals that needs no lower rate. With more, and larger smallest steps, a limit refuses
// over 2 % of the attempts.
const TOLERATED = 0.02;
// Refusals beyond the tolerated share that start an experiment: with five, strays slow 64 calls down.
const ALARM = 6;
// The most strays: a larger share of refusals shows a limit.
const MOST_STRAYS = 0.25;
// An experiment and a pause lower the rate by this share. With a smaller cut, a limit still refuses
// attempts in an experiment and looks like strays.
const CUT = 0.25;
// The steps in which the rate moves, as shares of it.
const SMALLEST_STEP = 0.02;
const LARGEST_STEP = 0.25;
const STEP_AFTER_PAUSE = 0.125;
// Successes that measure a rate: from fewer, it is off by more than a quarter.
const ENOUGH = 20;
// How long a rate is held before it rises: for less, a bucket's burst hides that it is too high.
const HOLD_MS = 1000;
// Below this rate, evidence from fewer attempts suffices. For half, a rate of one in ten seconds needs ten
// minutes to reach two a second, not five; for twice as much, a limit of one a second refuses 3 %.
const SLOW_PER_MS = 50 / 60_000;

/** The attempts from one on. */
interface Evidence {
  /** The number of the first one, its time, and the successes before it. */
  readonly from: number;
  readonly sinceMs: number;
  readonly successes: number;
  /** How many were refused. */
  refused: number;
}

/** A trial of a lower rate: if the rate was too high, the refusals end; strays go on. */
interface Experiment extends Evidence {
  /** The share of attempts that was refused before the trial. */
  readonly shareBefore: number;
  /** The rate that succeeded before the trial. */
  readonly succeededPerMs: number;
  /** Attempts at the lower rate that succeeded. */
  answered: number;
  /** Whether the refusals ended. The trial is over, but refusals below the old rate may still show strays. */
  readonly isLimit: boolean;
}

/**
 * Estimates the rate of a service that does not announce its limit from the attempts that it
 * refused (429, 503, 529). A refusal is a stray, which has no relation to the rate, or shows a limit.
 *
 * - No limit is known at first, and nothing is delayed.
 * - Refusals in a row pause all calls. A lower rate follows the pause.
 * - More refusals than the tolerated share start an experiment at a lower rate. If they go on, they
 *   are strays, and no limit is known again. If they end, there is a limit.
 * - Near a limit the rate moves by small steps, up after successes and down after a refusal.
 *
 * Times are milliseconds without pauses and without times in which no call is in flight or waiting.
 */
export class RateEstimate {
  /** The least time between two attempts, in milliseconds; 0 while no limit is known. */
  intervalMs = 0;
  isLimited = false;
  /** Attempts per millisecond; infinite while no limit is known. */
  #perMs = Number.POSITIVE_INFINITY;
  /** The part of the usual evidence that suffices: 1 unless the rate is slow. */
  #partNeeded = 1;
  #sentCount = 0;
  #successes = 0;
  readonly #lastSuccessesAtMs = new Float64Array(ENOUGH);
  /** The refused attempts since the last success, in the order of sending. */
  readonly #refusedAttempts = new Set<number>();
  /** Refusals beyond the tolerated share. */
  #excess = 0;
  /** The attempts since the excess was 0. */
  #evidence: Evidence = { from: 0, sinceMs: 0, successes: 0, refused: 0 };
  #experiment: Experiment | null = null;
  /** The first attempt after the last cut; earlier ones were sent at another rate. */
  #firstAfterCut = 0;
  /** The known share of strays, and the attempt until which it is assumed. */
  #strays = { share: 0, until: 0 };
  /** The next change of the rate, as a share of it. */
  #step = SMALLEST_STEP;
  /** Since when the rate holds; `balance`: the successes less the weighted refusals since. */
  #hold = { from: 0, sinceMs: 0, successes: 0, balance: 0 };
  /** The lowest rate that small steps reach, and the lowest that was refused. */
  #range = { floorPerMs: 0, ceilingPerMs: Number.POSITIVE_INFINITY };
  /** The rate that succeeded before the pause, or null if it was not measured. */
  #beforePausePerMs: number | null = null;
  /** Whether a pause has ended before there were enough successes to measure a rate. */
  #mayBeLimited = false;
  /** When the last pause ended, how long it was, and the successes before its end. */
  #lastPause = { endedAtMs: 0, pausedMs: 0, successes: 0 };

  /** Whether few of the latest attempts were refused. */
  get isSteady(): boolean {
    return this.#excess < 1;
  }

  /** Counts an attempt that is sent; returns its number. */
  sent(): number {
    const attempt = this.#sentCount;
    const strays = attempt < this.#strays.until ? this.#strays.share : 0;
    this.#sentCount += 1;
    this.#excess = Math.max(0, this.#excess - TOLERATED - 2 * strays);
    return attempt;
  }

  succeeded(attempt: number, nowMs: number): void {
    this.#lastSuccessesAtMs[this.#successes % ENOUGH] = nowMs;
    this.#successes += 1;
    // A loop over an empty set would still allocate an iterator on each success.
    if (this.#refusedAttempts.size > 0) {
      for (const refusedAttempt of this.#refusedAttempts)
        if (refusedAttempt < attempt) this.#refusedAttempts.delete(refusedAttempt);
    }
    if (!this.isLimited || attempt < this.#firstAfterCut) return;
    if (this.#experiment?.isLimit === false) this.#succeededInTrial(this.#experiment, nowMs);
    else if (attempt >= this.#hold.from) this.#weigh(1, nowMs);
  }

  /** An attempt was refused; returns whether every call must pause. */
  refused(attempt: number, nowMs: number): boolean {
    if (attempt < this.#firstAfterCut) return false;
    // Among 10 % of strays, four in a row come by chance: in one of 5,000 batches they took two thirds of the time.
    const { share, until } = this.#strays;
    const isAmongStrays = this.#excess >= IN_A_ROW || (attempt < until && share > TOLERATED);
    if (this.#refusedInARow(attempt) >= (isAmongStrays ? IN_A_ROW + 1 : IN_A_ROW)) {
      this.#strays = { share: 0, until: 0 };
      this.#excess = Math.max(0, this.#excess - IN_A_ROW + 1);
      const isKnown = this.#successes >= ENOUGH;
      this.#beforePausePerMs = isKnown ? this.#succeededPerMs(this.#evidence, nowMs) : null;
      return true;
    }
    const isInTrial = this.#experiment?.isLimit === false;
    if (this.#excess === 0 && !isInTrial) this.#evidence = this.#evidenceFrom(attempt, nowMs);
    this.#evidence.refused += 1;
    this.#excess += 1;
    if (this.#experiment !== null) this.#refusedInExperiment(this.#experiment, nowMs);
    if (isInTrial) return false;
    if (this.#excess >= ALARM && (this.isLimited || this.#successes >= ENOUGH)) {
      this.#tryLower(this.#evidence, nowMs);
    } else if (this.isLimited && attempt >= this.#hold.from) {
      // The rate stays where 1 % of the attempts are refused, besides strays.
      this.#weigh(-1 / (0.01 + 2 * this.#strays.share), nowMs);
    }
    return false;
  }

  /** A pause is over, since an attempt succeeded. If no other one did, nothing is known about a rate. */
  reopened(nowMs: number, pausedMs: number): void {
    // Of fewer attempts, refusals in a row may be strays. A second pause is measured from the first attempt on.
    if (!this.#mayBeLimited && !this.isLimited && this.#beforePausePerMs === null) {
      this.#mayBeLimited = true;
      this.#cutTo(Number.POSITIVE_INFINITY, SMALLEST_STEP, nowMs);
      return;
    }
    const last = this.#lastPause;
    const count = this.#successes - last.successes;
    const beforePerMs = this.#beforePausePerMs ?? this.#perMs;
    this.#lastPause = { endedAtMs: nowMs, pausedMs, successes: this.#successes };
    this.#range = { floorPerMs: 0, ceilingPerMs: Math.min(this.#perMs, beforePerMs) };
    // A service may allow a number of requests in each period, as in a minute, and refuse the rest of
    // it. Its rate is then the successes over the whole period, with one of the pauses at its ends.
    const periodMs = nowMs - last.endedAtMs + (this.isLimited ? last.pausedMs : pausedMs);
    const periodPerMs = count / periodMs;
    if (this.isLimited) {
      const lowerPerMs = (1 - CUT) * this.#perMs;
      const isMeasured = periodPerMs > lowerPerMs && count >= ENOUGH;
      const step = isMeasured ? SMALLEST_STEP : STEP_AFTER_PAUSE;
      this.#cutTo(Math.max(periodPerMs, lowerPerMs), step, nowMs);
    } else if (this.#beforePausePerMs !== null) {
      this.#cutTo((1 - CUT) * beforePerMs, STEP_AFTER_PAUSE, nowMs);
    } else if (count > 1) {
      // Measured from so few successes, it may be far too low: at least one a second, then doubled.
      this.#cutTo(Math.max(periodPerMs, 1 / 1000), 1, nowMs);
    }
  }

  /** Adds a refused attempt; returns how many refusals in a row it is part of. */
  #refusedInARow(attempt: number): number {
    this.#refusedAttempts.add(attempt);
    let count = 1;
    for (let next = attempt + 1; this.#refusedAttempts.has(next); next += 1) count += 1;
    for (let next = attempt - 1; this.#refusedAttempts.has(next); next -= 1) count += 1;
    return count;
  }

  #evidenceFrom(from: number, sinceMs: number): Evidence {
    return { from, sinceMs, successes: this.#successes, refused: 0 };
  }

  /** Starts an experiment below the rate that succeeded. */
  #tryLower(evidence: Evidence, nowMs: number): void {
    const seenCount = evidence.refused / (this.#sentCount - evidence.from);
    const shareBefore = Math.min(seenCount, this.#strays.share || seenCount);
    // If the refusals are not strays, a few successes beside them measure the limit.
    const enough = seenCount > MOST_STRAYS ? 2 : ENOUGH;
    const lowestPerMs = this.isLimited ? this.#perMs / 2 : 0;
    const measuredPerMs = this.#succeededPerMs(evidence, nowMs, enough);
    const succeededPerMs = Math.max(lowestPerMs, Math.min(this.#perMs, measuredPerMs));
    this.#range = { floorPerMs: 0, ceilingPerMs: succeededPerMs };
    this.#excess = 0;
    this.#cutTo((1 - CUT) * succeededPerMs, this.#step, nowMs);
    const before = { shareBefore, succeededPerMs, answered: 0, isLimit: false };
    this.#experiment = { ...this.#evidenceFrom(this.#sentCount, nowMs), ...before };
  }

  /** The lower rate is refused as well: by strays if the share is similar, else it is still too high. */
  #refusedInExperiment(experiment: Experiment, nowMs: number): void {
    const { isLimit } = experiment;
    experiment.refused += 1;
    const share = experiment.refused / (this.#sentCount - experiment.from);
    const enough = isLimit || share > MOST_STRAYS ? ALARM : ALARM / 2;
    // Until an attempt succeeds, the rest of a used-up window is refused at any rate.
    if (experiment.refused < enough || experiment.answered === 0) return;
    const isSimilar = share >= (isLimit ? 2 * TOLERATED : experiment.shareBefore / 2);
    if (isSimilar && share <= MOST_STRAYS) {
      this.#learnStrays(isLimit ? experiment : this.#evidence);
      this.#excess = 0;
      this.#cutTo(Number.POSITIVE_INFINITY, SMALLEST_STEP, nowMs);
    } else if (!isLimit) this.#tryLower(experiment, nowMs);
  }

  /** The refusals ended, which shows a limit, once {@link ALARM} of them would have been due. */
  #succeededInTrial(experiment: Experiment, nowMs: number): void {
    experiment.answered += 1;
    if (this.#sentCount - experiment.from < (this.#partNeeded * ALARM) / experiment.shareBefore)
      return;
    this.#learnStrays(experiment);
    // The limit is between the rate of the trial and the one before: go on halfway.
    this.#range.floorPerMs = (1 - CUT / 2) * experiment.succeededPerMs;
    this.#cutTo(this.#range.floorPerMs, 2 * SMALLEST_STEP, nowMs);
    this.#experiment = { ...experiment, isLimit: true };
  }

  #learnStrays({ refused: refusedCount, from }: Evidence): void {
    const attempts = this.#sentCount - from;
    // Few attempts show little, so 50 others that were not refused are added to them.
    const share = refusedCount / (attempts + 50);
    this.#strays = { share, until: this.#sentCount + 10 * Math.max(attempts, 100) };
  }

  /** Sets a rate for which attempts and refusals so far show nothing; infinite for no limit. */
  #cutTo(perMs: number, step: number, nowMs: number): void {
    this.#experiment = null;
    this.#refusedAttempts.clear();
    this.#firstAfterCut = this.#sentCount;
    this.#stepTo(perMs, step, nowMs);
  }

  #stepTo(perMs: number, step: number, nowMs: number): void {
    this.#perMs = perMs;
    this.intervalMs = 1 / perMs;
    this.#partNeeded = Math.min(1, perMs / SLOW_PER_MS);
    this.isLimited = perMs !== Number.POSITIVE_INFINITY;
    this.#step = step;
    this.#hold = {
      from: this.#sentCount,
      sinceMs: nowMs,
      successes: this.#successes,
      balance: 0,
    };
  }

  /** Adds a success or a weighted refusal to the balance, which moves the rate once it is high or low enough. */
  #weigh(by: number, nowMs: number): void {
    const enough = Math.max(2, (2 * this.#partNeeded) / this.#step);
    this.#hold.balance = Math.min(enough, this.#hold.balance + by);
    if (this.#hold.balance <= -enough) this.#fall(nowMs);
    else if (this.#hold.balance === enough && nowMs - this.#hold.sinceMs >= HOLD_MS) {
      this.#rise(nowMs);
    }
  }

  #fall(nowMs: number): void {
    const perMs = Math.max(this.#range.floorPerMs, this.#perMs / (1 + this.#step));
    this.#range.ceilingPerMs = this.#perMs;
    // The refusals so far belong to the higher rate. After a small step they still count.
    if (this.#step > SMALLEST_STEP) this.#excess = 0;
    this.#stepTo(perMs, Math.max(SMALLEST_STEP, this.#step / 4), nowMs);
  }

  /** Raises the rate if calls used most of it. */
  #rise(nowMs: number): void {
    const { sinceMs, successes } = this.#hold;
    const { ceilingPerMs } = this.#range;
    const isUsed = this.#successes - successes >= 0.75 * this.#perMs * (nowMs - sinceMs);
    const perMs = isUsed ? this.#perMs * (1 + this.#step) : this.#perMs;
    // Well above the lowest rate that was refused, the limit has changed: steps double, as at a slow rate.
    const isDoubled = perMs > 1.125 * ceilingPerMs || (isUsed && this.#partNeeded < 1);
    const larger = Math.min(LARGEST_STEP, 2 * this.#step);
    this.#stepTo(perMs, isDoubled ? Math.max(this.#step, larger) : this.#step, nowMs);
    if (perMs > ceilingPerMs) this.#experiment = null;
  }

  /** Returns the rate that succeeded since some attempt, or of the last {@link ENOUGH} successes. */
  #succeededPerMs({ successes, sinceMs }: Evidence, nowMs: number, enough = ENOUGH): number {
    const count = this.#successes - successes;
    if (count >= enough) return count / (nowMs - sinceMs);
    const oldestAtMs = this.#lastSuccessesAtMs[this.#successes % ENOUGH] as number;
    return ENOUGH / Math.max(1, nowMs - oldestAtMs);
  }
}
