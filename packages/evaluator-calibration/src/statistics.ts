// Scores
export {
  brierScore,
  cohenKappa,
  logLoss,
  rocAuc,
  spiegelhalter,
} from "./scores/probability-scores.ts";
export { corpCurve, expectedCalibrationError } from "./scores/reliability.ts";

// Thresholds and intervals
export { learnThenTest, promiseThresholds } from "./thresholds/learn-then-test.ts";
export {
  conformalRiskControl,
  costThreshold,
  riskCoverage,
  toHundredths,
} from "./thresholds/risk-coverage.ts";
export { twoSidedP } from "./math/special-functions.ts";
export { clopperPearson, labelsForZeroErrors, wilson } from "./thresholds/intervals.ts";

// New labels, and releases
export {
  checkThreshold,
  checkThresholds,
  isFairTest,
  type ThresholdCheck,
  type ThresholdTest,
} from "./report/check-threshold.ts";
export { compareReleases } from "./report/compare-releases.ts";

// Fits
export { recalibrationOf } from "./artifact.ts";
export { applyRecalibration } from "./recalibration.ts";
export { fitRecalibration } from "./report/recalibrate.ts";
