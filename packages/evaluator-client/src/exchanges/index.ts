export { type Exchange, loadExchanges } from "./exchange.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange.ts";
export { findLeak, type LiveReply } from "./find-key.ts";
export { findSecretIn, findSecrets, pathText, type SecretFinding } from "./find-secrets.ts";
export { emulatorHeader, keepHeaders, modelOf, scrubResponse } from "./recording.ts";
export { record, RecordingError, type RecordOptions } from "./record.ts";
export {
  MissingExchangeError,
  replay,
  type ReplayOptions,
  type ReplayTransport,
} from "./replay.ts";
