export { MissingExchangeError, RecordingError } from "./exchange-errors.ts";
export { type Exchange, loadExchanges } from "./exchange.ts";
export { findLeak, type LiveReply } from "./find-key.ts";
export { findSecrets, type SecretFinding } from "./find-secrets.ts";
export { emulatorHeader, keepHeaders, modelOf, scrubResponse } from "./recording.ts";
export { record, type RecordOptions } from "./record.ts";
export { replay, type ReplayOptions, type ReplayTransport } from "./replay.ts";
export { findSecretIn, pathText } from "./secrets-in-json.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange-folder.ts";
