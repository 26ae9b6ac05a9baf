export { MissingExchangeError, RecordingError } from "./exchange-errors.ts";
export { record, type RecordOptions } from "./record.ts";
export { replay, type ReplayOptions, type ReplayTransport } from "./replay.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange-folder.ts";
