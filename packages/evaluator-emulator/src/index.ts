export {
  createEmulator,
  type Emulator,
  type EmulatorAddress,
  type EmulatorOptions,
} from "./create-emulator.ts";
export type { Tier } from "./accounts/account.ts";
export { echoModel, lexicalModel } from "./local-model.ts";
