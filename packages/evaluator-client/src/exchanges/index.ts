export { type Exchange, loadExchanges } from "./exchange.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange.ts";
export { findSecrets, pathText } from "./find-secrets.ts";
export { record, type RecordOptions } from "./record.ts";
export { MissingExchangeError, replay } from "./replay.ts";
export type { ReplayOptions, ReplayTransport } from "./replay.ts";
export { emulatorHeader, readReply, RecordingError, writeExchange } from "./stored-exchange.ts";
