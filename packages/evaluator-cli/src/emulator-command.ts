import { emulatorUsage, runEmulator } from "evaluator-emulator/program";
import type { Command } from "./command.ts";

const name = "evaluator emulator";

/** Starts the emulator. */
export const emulatorCommand: Command = {
  examples: [],
  usage: emulatorUsage(name),
  run: (words, context) => runEmulator(words, context, name),
};
