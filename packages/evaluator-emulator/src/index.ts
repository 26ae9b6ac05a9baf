export { createEmulator, type Emulator, type EmulatorAddress } from "./create-emulator.ts";
export type { EmulatorOptions } from "./create-emulator.ts";
export type { KeySetup } from "./accounts.ts";
export type { Tier } from "./accounts.ts";
export type { EngineName } from "./engine/engine-routes.ts";
export type { Fault } from "./faults/fault.ts";
export { loadRules } from "./rules/rule.ts";
export type { Rule, RuleAnswer } from "./rules/rule.ts";
export { echoModel, lexicalModel, ruleModel } from "./basis.ts";
