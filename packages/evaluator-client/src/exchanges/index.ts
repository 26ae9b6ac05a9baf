export { type Exchange, loadExchanges } from "./exchange.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange.ts";
export { findSecrets, pathText } from "./find-secrets.ts";
export { emulatorHeader, readReply, writeExchange } from "./record.ts";
export { record, RecordingError, type RecordOptions } from "./record.ts";
export { MissingExchangeError, replay } from "./replay.ts";
export type { ReplayOptions, ReplayTransport } from "./replay.ts";
