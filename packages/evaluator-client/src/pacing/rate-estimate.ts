import { IN_A_ROW } from "./call-queue.ts";

// The share of refusals that needs no lower rate. With more, and larger smallest steps, a limit refuses
// over 2 % of the attempts.
const TOLERATED = 0.02;
// Refusals beyond the tolerated share that start an experiment: with five, strays slow 64 calls down.
const ALARM_LEVEL = 6;
// The most strays: a larger share of refusals shows a limit.
const MOST_STRAYS = 0.25;
// An experiment and a pause lower the rate by this share. With a smaller cut, a limit still refuses
// attempts in an experiment and looks like strays.
const CUT_FACTOR = 0.25;
// The steps in which the rate moves, as shares of it.
const SMALLEST_STEP = 0.02;
const LARGEST_STEP = 0.25;
const STEP_AFTER_PAUSE = 0.125;
// Successes that measure a rate: from fewer, it is off by more than a quarter.
const ENOUGH_ATTEMPTS = 20;
// How long a rate is held before it rises: for less, a bucket's burst hides that it is too high.
const HOLD_MS = 1000;
// Below this rate, evidence from fewer attempts suffices. For half, a rate of one in ten seconds needs ten
// minutes to reach two a second, not five; for twice as much, a limit of one a second refuses 3 %.
const SLOW_PER_MS = 50 / 60_000;

/** The attempts from one on. */
interface Evidence {
  /** The number of the first one, its time, and the successes before it. */
  readonly fromAttempt: number;
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
  #ratePerMs = Number.POSITIVE_INFINITY;
  /** The part of the usual evidence that suffices: 1 unless the rate is slow. */
  #partNeeded = 1;
  #sentCount = 0;
  #successes = 0;
  readonly #lastSuccessesAtMs = new Float64Array(ENOUGH_ATTEMPTS);
  /** The refused attempts since the last success, in the order of sending. */
  readonly #refusedAttempts = new Set<number>();
  /** Refusals beyond the tolerated share. */
  #excessEvidence = 0;
  /** The attempts since the excess was 0. */
  #evidence: Evidence = { fromAttempt: 0, sinceMs: 0, successes: 0, refused: 0 };
  #experiment: Experiment | null = null;
  /** The first attempt after the last cut; earlier ones were sent at another rate. */
  #firstAfterCut = 0;
  /** The known share of strays, and the attempt until which it is assumed. */
  #strayRefusals = { share: 0, until: 0 };
  /** The next change of the rate, as a share of it. */
  #relativeStep = SMALLEST_STEP;
  /** Since when the rate holds; `balance`: the successes less the weighted refusals since. */
  #heldEvidence = { from: 0, sinceMs: 0, successes: 0, balance: 0 };
  /** The lowest rate that small steps reach, and the lowest that was refused. */
  #plausibleRange = { floorPerMs: 0, ceilingPerMs: Number.POSITIVE_INFINITY };
  /** The rate that succeeded before the pause, or null if it was not measured. */
  #beforePausePerMs: number | null = null;
  /** Whether a pause has ended before there were enough successes to measure a rate. */
  #mayBeLimited = false;
  /** When the last pause ended, how long it was, and the successes before its end. */
  #lastPause = { endedAtMs: 0, pausedMs: 0, successes: 0 };

  /** Whether few of the latest attempts were refused. */
  get isSteady(): boolean {
    return this.#excessEvidence < 1;
  }

  /** Counts an attempt that is sent; returns its number. */
  sent(): number {
    const attempt = this.#sentCount;
    const strayShare = attempt < this.#strayRefusals.until ? this.#strayRefusals.share : 0;
    this.#sentCount += 1;
    this.#excessEvidence = Math.max(0, this.#excessEvidence - TOLERATED - 2 * strayShare);
    return attempt;
  }

  succeeded(attempt: number, nowMs: number): void {
    this.#lastSuccessesAtMs[this.#successes % ENOUGH_ATTEMPTS] = nowMs;
    this.#successes += 1;
    // A loop over an empty set would still allocate an iterator on each success.
    if (this.#refusedAttempts.size > 0) {
      for (const refusedAttempt of this.#refusedAttempts)
        if (refusedAttempt < attempt) this.#refusedAttempts.delete(refusedAttempt);
    }
    if (!this.isLimited || attempt < this.#firstAfterCut) return;
    if (this.#experiment?.isLimit === false) this.#succeededInTrial(this.#experiment, nowMs);
    else if (attempt >= this.#heldEvidence.from) this.#weighEvidence(1, nowMs);
  }

  /** An attempt was refused; returns whether every call must pause. */
  refused(attempt: number, nowMs: number): boolean {
    if (attempt < this.#firstAfterCut) return false;
    // Among 10 % of strays, four in a row come by chance: in one of 5,000 batches they took two thirds of the time.
    const { share, until } = this.#strayRefusals;
    const isAmongStrays =
      this.#excessEvidence >= IN_A_ROW || (attempt < until && share > TOLERATED);
    if (this.#refusedInARow(attempt) >= (isAmongStrays ? IN_A_ROW + 1 : IN_A_ROW)) {
      this.#strayRefusals = { share: 0, until: 0 };
      this.#excessEvidence = Math.max(0, this.#excessEvidence - IN_A_ROW + 1);
      const isKnown = this.#successes >= ENOUGH_ATTEMPTS;
      this.#beforePausePerMs = isKnown ? this.#succeededPerMs(this.#evidence, nowMs) : null;
      return true;
    }
    const isInTrial = this.#experiment?.isLimit === false;
    if (this.#excessEvidence === 0 && !isInTrial)
      this.#evidence = this.#evidenceFrom(attempt, nowMs);
    this.#evidence.refused += 1;
    this.#excessEvidence += 1;
    if (this.#experiment !== null) this.#refusedInExperiment(this.#experiment, nowMs);
    if (isInTrial) return false;
    if (
      this.#excessEvidence >= ALARM_LEVEL &&
      (this.isLimited || this.#successes >= ENOUGH_ATTEMPTS)
    ) {
      this.#tryLower(this.#evidence, nowMs);
    } else if (this.isLimited && attempt >= this.#heldEvidence.from) {
      // The rate stays where 1 % of the attempts are refused, besides strays.
      this.#weighEvidence(-1 / (0.01 + 2 * this.#strayRefusals.share), nowMs);
    }
    return false;
  }

  /** A pause is over, since an attempt succeeded. If no other one did, nothing is known about a rate. */
  reopened(nowMs: number, pausedMs: number): void {
    // Of fewer attempts, refusals in a row may be strays. A second pause is measured from the first attempt on.
    if (!this.#mayBeLimited && !this.isLimited && this.#beforePausePerMs === null) {
      this.#mayBeLimited = true;
      this.#cutRateTo(Number.POSITIVE_INFINITY, SMALLEST_STEP, nowMs);
      return;
    }
    const lastPause = this.#lastPause;
    const successCount = this.#successes - lastPause.successes;
    const beforePerMs = this.#beforePausePerMs ?? this.#ratePerMs;
    this.#lastPause = { endedAtMs: nowMs, pausedMs, successes: this.#successes };
    this.#plausibleRange = { floorPerMs: 0, ceilingPerMs: Math.min(this.#ratePerMs, beforePerMs) };
    // A service may allow a number of requests in each period, as in a minute, and refuse the rest of
    // it. Its rate is then the successes over the whole period, with one of the pauses at its ends.
    const periodMs = nowMs - lastPause.endedAtMs + (this.isLimited ? lastPause.pausedMs : pausedMs);
    const periodPerMs = successCount / periodMs;
    if (this.isLimited) {
      const lowerPerMs = (1 - CUT_FACTOR) * this.#ratePerMs;
      const isMeasured = periodPerMs > lowerPerMs && successCount >= ENOUGH_ATTEMPTS;
      const relativeStep = isMeasured ? SMALLEST_STEP : STEP_AFTER_PAUSE;
      this.#cutRateTo(Math.max(periodPerMs, lowerPerMs), relativeStep, nowMs);
    } else if (this.#beforePausePerMs !== null) {
      this.#cutRateTo((1 - CUT_FACTOR) * beforePerMs, STEP_AFTER_PAUSE, nowMs);
    } else if (successCount > 1) {
      // Measured from so few successes, it may be far too low: at least one a second, then doubled.
      this.#cutRateTo(Math.max(periodPerMs, 1 / 1000), 1, nowMs);
    }
  }

  /** Adds a refused attempt; returns how many refusals in a row it is part of. */
  #refusedInARow(attempt: number): number {
    this.#refusedAttempts.add(attempt);
    let neighbourCount = 1;
    for (
      let neighbourAttempt = attempt + 1;
      this.#refusedAttempts.has(neighbourAttempt);
      neighbourAttempt += 1
    )
      neighbourCount += 1;
    for (
      let neighbourAttempt = attempt - 1;
      this.#refusedAttempts.has(neighbourAttempt);
      neighbourAttempt -= 1
    )
      neighbourCount += 1;
    return neighbourCount;
  }

  #evidenceFrom(from: number, sinceMs: number): Evidence {
    return { fromAttempt: from, sinceMs, successes: this.#successes, refused: 0 };
  }

  /** Starts an experiment below the rate that succeeded. */
  #tryLower(evidence: Evidence, nowMs: number): void {
    const seenCount = evidence.refused / (this.#sentCount - evidence.fromAttempt);
    const shareBefore = Math.min(seenCount, this.#strayRefusals.share || seenCount);
    // If the refusals are not strays, a few successes beside them measure the limit.
    const enoughEvidence = seenCount > MOST_STRAYS ? 2 : ENOUGH_ATTEMPTS;
    const lowestPerMs = this.isLimited ? this.#ratePerMs / 2 : 0;
    const measuredPerMs = this.#succeededPerMs(evidence, nowMs, enoughEvidence);
    const succeededPerMs = Math.max(lowestPerMs, Math.min(this.#ratePerMs, measuredPerMs));
    this.#plausibleRange = { floorPerMs: 0, ceilingPerMs: succeededPerMs };
    this.#excessEvidence = 0;
    this.#cutRateTo((1 - CUT_FACTOR) * succeededPerMs, this.#relativeStep, nowMs);
    const stateBefore = { shareBefore, succeededPerMs, answered: 0, isLimit: false };
    this.#experiment = { ...this.#evidenceFrom(this.#sentCount, nowMs), ...stateBefore };
  }

  /** The lower rate is refused as well: by strays if the share is similar, else it is still too high. */
  #refusedInExperiment(experiment: Experiment, nowMs: number): void {
    const { isLimit } = experiment;
    experiment.refused += 1;
    const share = experiment.refused / (this.#sentCount - experiment.fromAttempt);
    const enoughEvidence = isLimit || share > MOST_STRAYS ? ALARM_LEVEL : ALARM_LEVEL / 2;
    // Until an attempt succeeds, the rest of a used-up window is refused at any rate.
    if (experiment.refused < enoughEvidence || experiment.answered === 0) return;
    const isSimilar = share >= (isLimit ? 2 * TOLERATED : experiment.shareBefore / 2);
    if (isSimilar && share <= MOST_STRAYS) {
      this.#learnStrays(isLimit ? experiment : this.#evidence);
      this.#excessEvidence = 0;
      this.#cutRateTo(Number.POSITIVE_INFINITY, SMALLEST_STEP, nowMs);
    } else if (!isLimit) this.#tryLower(experiment, nowMs);
  }

  /** The refusals ended, which shows a limit, once {@link ALARM_LEVEL} of them would have been due. */
  #succeededInTrial(experiment: Experiment, nowMs: number): void {
    experiment.answered += 1;
    if (
      this.#sentCount - experiment.fromAttempt <
      (this.#partNeeded * ALARM_LEVEL) / experiment.shareBefore
    )
      return;
    this.#learnStrays(experiment);
    // The limit is between the rate of the trial and the one before: go on halfway.
    this.#plausibleRange.floorPerMs = (1 - CUT_FACTOR / 2) * experiment.succeededPerMs;
    this.#cutRateTo(this.#plausibleRange.floorPerMs, 2 * SMALLEST_STEP, nowMs);
    this.#experiment = { ...experiment, isLimit: true };
  }

  #learnStrays({ refused: refusedCount, fromAttempt }: Evidence): void {
    const attempts = this.#sentCount - fromAttempt;
    // Few attempts show little, so 50 others that were not refused are added to them.
    const share = refusedCount / (attempts + 50);
    this.#strayRefusals = { share, until: this.#sentCount + 10 * Math.max(attempts, 100) };
  }

  /** Sets a rate for which attempts and refusals so far show nothing; infinite for no limit. */
  #cutRateTo(perMs: number, relativeStep: number, nowMs: number): void {
    this.#experiment = null;
    this.#refusedAttempts.clear();
    this.#firstAfterCut = this.#sentCount;
    this.#stepRateTo(perMs, relativeStep, nowMs);
  }

  #stepRateTo(perMs: number, relativeStep: number, nowMs: number): void {
    this.#ratePerMs = perMs;
    this.intervalMs = 1 / perMs;
    this.#partNeeded = Math.min(1, perMs / SLOW_PER_MS);
    this.isLimited = perMs !== Number.POSITIVE_INFINITY;
    this.#relativeStep = relativeStep;
    this.#heldEvidence = {
      from: this.#sentCount,
      sinceMs: nowMs,
      successes: this.#successes,
      balance: 0,
    };
  }

  /** Adds a success or a weighted refusal to the balance, which moves the rate once it is high or low enough. */
  #weighEvidence(evidenceWeight: number, nowMs: number): void {
    const enoughEvidence = Math.max(2, (2 * this.#partNeeded) / this.#relativeStep);
    this.#heldEvidence.balance = Math.min(
      enoughEvidence,
      this.#heldEvidence.balance + evidenceWeight,
    );
    if (this.#heldEvidence.balance <= -enoughEvidence) this.#lowerRate(nowMs);
    else if (
      this.#heldEvidence.balance === enoughEvidence &&
      nowMs - this.#heldEvidence.sinceMs >= HOLD_MS
    ) {
      this.#raiseRate(nowMs);
    }
  }

  #lowerRate(nowMs: number): void {
    const perMs = Math.max(
      this.#plausibleRange.floorPerMs,
      this.#ratePerMs / (1 + this.#relativeStep),
    );
    this.#plausibleRange.ceilingPerMs = this.#ratePerMs;
    // The refusals so far belong to the higher rate. After a small step they still count.
    if (this.#relativeStep > SMALLEST_STEP) this.#excessEvidence = 0;
    this.#stepRateTo(perMs, Math.max(SMALLEST_STEP, this.#relativeStep / 4), nowMs);
  }

  /** Raises the rate if calls used most of it. */
  #raiseRate(nowMs: number): void {
    const { sinceMs, successes } = this.#heldEvidence;
    const { ceilingPerMs } = this.#plausibleRange;
    const isRateUsed = this.#successes - successes >= 0.75 * this.#ratePerMs * (nowMs - sinceMs);
    const perMs = isRateUsed ? this.#ratePerMs * (1 + this.#relativeStep) : this.#ratePerMs;
    // Well above the lowest rate that was refused, the limit has changed: steps double, as at a slow rate.
    const isDoubled = perMs > 1.125 * ceilingPerMs || (isRateUsed && this.#partNeeded < 1);
    const largerStep = Math.min(LARGEST_STEP, 2 * this.#relativeStep);
    this.#stepRateTo(
      perMs,
      isDoubled ? Math.max(this.#relativeStep, largerStep) : this.#relativeStep,
      nowMs,
    );
    if (perMs > ceilingPerMs) this.#experiment = null;
  }

  /** Returns the rate that succeeded since some attempt, or of the last {@link ENOUGH_ATTEMPTS} successes. */
  #succeededPerMs(
    { successes, sinceMs }: Evidence,
    nowMs: number,
    enoughEvidence = ENOUGH_ATTEMPTS,
  ): number {
    const neighbourCount = this.#successes - successes;
    if (neighbourCount >= enoughEvidence) return neighbourCount / (nowMs - sinceMs);
    const oldestAtMs = this.#lastSuccessesAtMs[this.#successes % ENOUGH_ATTEMPTS] as number;
    return ENOUGH_ATTEMPTS / Math.max(1, nowMs - oldestAtMs);
  }
}
