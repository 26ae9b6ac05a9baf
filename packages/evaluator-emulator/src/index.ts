export type { KeySetup, Tier } from "./accounts.ts";
export { echoModel, lexicalModel, ruleModel } from "./answers/judgement.ts";
export { loadRules } from "./answers/load-rules.ts";
export type { Rule, RuleAnswer } from "./answers/rules.ts";
export { createEmulator, type EmulatorOptions } from "./create-emulator.ts";
export type { EngineName } from "./engine/engines.ts";
export type { Fault } from "./faults/fault.ts";
export type { Emulator, EmulatorAddress, ListenOptions } from "./serve.ts";
export type { VendorLimits } from "./vendor-limits.ts";
