import { emulatorUsage, runEmulator } from "evaluator-emulator/program";
import { exitCodes } from "evaluator-kit";
import { type Command, endings } from "./command.ts";

const name = "evaluator emulator";

/** Starts the emulator. */
export const emulatorCommand: Command = {
  examples: [],
  usage: emulatorUsage(name),
  async run(words, context) {
    const exitCode = await runEmulator(words, context, name);
    return exitCode === exitCodes.usage ? endings.usage : exitCode;
  },
};
