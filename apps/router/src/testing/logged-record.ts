/** A message in a decision log, with the fields that every version of the log has. */
export const loggedRecord = {
  time: "2026-11-20T08:00:00.000Z",
  outcome: "replied",
  failure: null,
  tierChosen: "nano",
  tierUsed: "nano",
  cause: "choice",
  decisionCostUsd: 0.001,
  replyCostUsd: 0.01,
  frontierCostUsd: 0.1,
};
