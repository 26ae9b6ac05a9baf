import { type Bound, checkShare } from "./intervals.ts";

/** The alarm bets that the risk is one of these multiples of the promised one, each with a part of the stake. */
const RISK_BETS = [
  [1.5, 0.3],
  [2, 0.3],
  [3, 0.2],
  [5, 0.1],
  [10, 0.1],
] as const;

const HIGHEST_RISK = 0.95;
/** Far above any alarm, and a number in JSON. */
const LARGEST_GAIN = 1e300;
/** The risk may have risen before any label of which the number is a multiple of it. */
const LABELS_BETWEEN = 5;

/** The result of a running test. */
export interface RiskAlarmState {
  readonly n: number;
  readonly wrong: number;
  /** The gain of bets against the promise, from a stake of 1. */
  readonly evidence: number;
  /** Whether the evidence ever reached 1 / (1 − confidence); it stays. */
  readonly alarm: boolean;
}

/** An alarm as JSON. */
export interface SavedRiskAlarm extends RiskAlarmState {
  /** The gains of the bets that have begun, by multiple of the risk. */
  readonly gains: readonly number[];
}

/**
 * Returns a test of a promised risk that takes one label after another, for any time: the chance of a false
 * alarm is at most 1 − confidence in all. It detects a rise above `maxRisk`, whenever it begins.
 *
 * @param savedRiskAlarm - `JSON.parse(JSON.stringify(alarm))` of an earlier alarm, which goes on.
 * @throws RangeError if an option or a saved number is invalid.
 * @example createRiskAlarm({ maxRisk: 0.05 }).add(true) // { n: 1, wrong: 1, evidence: 2.075, alarm: false }
 */
export function createRiskAlarm(
  { maxRisk, confidence = 0.95 }: Bound,
  savedRiskAlarm: SavedRiskAlarm = {
    n: 0,
    wrong: 0,
    evidence: 1,
    alarm: false,
    gains: RISK_BETS.map(() => 0),
  },
) {
  checkShare("maxRisk", maxRisk);
  checkShare("confidence", confidence);
  checkSaved(savedRiskAlarm);
  let alarmState: SavedRiskAlarm = savedRiskAlarm;
  return {
    /**
     * Adds the label of one record that was acted on, and returns the state.
     *
     * @param wrongChance - The largest chance that it is wrong if the promise is true. It changes if the records are of a fixed
     * number. Default: `maxRisk`.
     */
    add(isWrong: boolean, wrongChance = maxRisk): RiskAlarmState {
      alarmState = nextState(alarmState, { isWrong, chance: wrongChance }, { maxRisk, confidence });
      const { gains: _, ...shownEntries } = alarmState;
      return shownEntries;
    },
    toJSON: () => alarmState,
  };
}

/** The j-th possible start of a rise has 1 / (j (j + 1)) of the stake; the rest is not bet yet. */
function nextState(
  { n, wrong: wrongBefore, alarm, gains }: SavedRiskAlarm,
  { isWrong, chance }: { readonly isWrong: boolean; readonly chance: number },
  { maxRisk, confidence }: Required<Bound>,
): SavedRiskAlarm {
  const startCount = Math.floor(n / LABELS_BETWEEN) + 1;
  const startTime = n % LABELS_BETWEEN === 0 ? 1 / (startCount * (startCount + 1)) : 0;
  const newGains = RISK_BETS.map(([multiple, betStake], betIndex) => {
    const betRisk = Math.max(chance, Math.min(HIGHEST_RISK, multiple * maxRisk));
    // Nothing is bet on a label that may well be wrong although the promise is true.
    const payoff =
      betRisk <= chance ? 1 : isWrong ? betRisk / chance : (1 - betRisk) / (1 - chance);
    return Math.min(LARGEST_GAIN, ((gains[betIndex] as number) + betStake * startTime) * payoff);
  });
  const evidence = newGains.reduce(
    (runningSum, betGain) => runningSum + betGain,
    1 / (startCount + 1),
  );
  return {
    n: n + 1,
    wrong: wrongBefore + Number(isWrong),
    evidence,
    alarm: alarm || evidence >= 1 / (1 - confidence),
    gains: newGains,
  };
}

function checkSaved({ n, wrong, evidence, alarm, gains }: SavedRiskAlarm): void {
  const numbers = [
    n,
    wrong,
    evidence,
    ...(gains.length === RISK_BETS.length ? gains : [Number.NaN]),
  ];
  if (numbers.every((savedNumber) => savedNumber >= 0) && wrong <= n && typeof alarm === "boolean")
    return;
  throw new RangeError("The saved alarm is invalid; start another.");
}
