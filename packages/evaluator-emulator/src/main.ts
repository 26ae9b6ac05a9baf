#!/usr/bin/env node
import { once } from "node:events";
import { runProgram } from "evaluator-cli-kit";
import { readArguments, usage } from "./arguments.ts";
import { createEmulator } from "./create-emulator.ts";
import { loadRules } from "./rules/rule.ts";

await runProgram(
  async (words, { cwd, stdout, signal }) => {
    if (words.includes("--help") || words.includes("-h")) {
      stdout.write(usage);
      return 0;
    }
    const { port, rulesPath, ...options } = readArguments(words, cwd);
    const rules = rulesPath === null ? [] : loadRules(rulesPath);
    const emulator = createEmulator({ ...options, rules });
    const { origin, gatewayBaseUrl, directBaseUrl } = await emulator.listen({ port });
    stdout.write(
      "The emulator listens; any key will do.\n" +
        `gateway  ${gatewayBaseUrl}\n` +
        `direct   ${directBaseUrl}\n` +
        (options.engine === undefined ? "" : `${options.engine.padEnd(8)} ${origin}\n`) +
        `control  ${origin}/_emulator/journal, top-up, faults, reset\n`,
    );
    if (!signal.aborted) await once(signal, "abort");
    await emulator.close();
    return 0;
  },
  { name: "The emulator", usage },
);
