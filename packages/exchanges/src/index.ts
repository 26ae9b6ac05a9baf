export { type Exchange, exchangeSchema, isSecretHeader, loadExchanges } from "./exchange.ts";
export { findKey, findLeak, type LiveReply } from "./find-key.ts";
export { findSecrets } from "./find-secrets.ts";
export { emulatorHeader, keepHeaders, modelOf, scrubResponse } from "./recording.ts";
export { openReplayLedger, type ReplayLedger } from "./replay-ledger.ts";
export { type RecordedRequest, requestDigest } from "./request-match.ts";
export { findSecretIn, keyText, pathText } from "./secrets-in-json.ts";
