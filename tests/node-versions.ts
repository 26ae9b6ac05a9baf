/** The versions of Node that published packages promise to run on, from the oldest. */
export const promisedNodes = ["22.19.0", "24.21.0", "26.10.0"];

/** Versions that are too old for them, and still in use. */
export const tooOldNodes = ["18.20.8", "20.19.5"];
