export { type Exchange, loadExchanges } from "./exchange.ts";
export type { ExchangeOptions, OwnTransportOptions } from "./exchange.ts";
export { findLeak, type LiveReply } from "./find-key.ts";
export { findSecretIn, findSecrets, pathText } from "./find-secrets.ts";
export * from "./record.ts";
export * from "./replay.ts";
