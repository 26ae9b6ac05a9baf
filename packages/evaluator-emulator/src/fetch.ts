export type { KeySetup, Tier } from "./accounts.ts";
export type { Rule, RuleAnswer } from "./answers/rules.ts";
export type { Fault } from "./faults/fault.ts";
export {
  createFetchEmulator as createEmulator,
  type FetchEmulator as Emulator,
  type FetchEmulatorOptions as EmulatorOptions,
} from "./fetch-emulator.ts";
export type { Exchange } from "./recordings.ts";
export type { VendorLimits } from "./vendor-limits.ts";
