export { createEmulator, type Emulator, type EmulatorAddress } from "./create-emulator.ts";
export type { EmulatorOptions } from "./emulator-options.ts";
export type { KeySetup } from "./accounts/account-book.ts";
export type { Tier } from "./accounts/account.ts";
export type { Fault } from "./faults/fault.ts";
export { loadRules } from "./rules/load-rules.ts";
export type { Rule, RuleAnswer } from "./rules/rule.ts";
export { echoModel, lexicalModel, ruleModel } from "./local-model.ts";
