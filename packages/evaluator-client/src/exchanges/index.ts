export { type Exchange, loadExchanges } from "./exchange.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange.ts";
export { findLeak, type LiveReply } from "./find-key.ts";
export { findSecretIn, findSecrets, pathText } from "./find-secrets.ts";
export { record, RecordingError, type RecordOptions } from "./record.ts";
export { MissingExchangeError, replay } from "./replay.ts";
export type { ReplayOptions, ReplayTransport } from "./replay.ts";
export { emulatorHeader, keepHeaders, modelOf, scrubResponse } from "./stored-response.ts";
