#!/usr/bin/env node
import { createEmulator } from "./create-emulator.ts";
import { readArguments, usageText } from "./read-arguments.ts";
import { loadRules } from "./rules/load-rules.ts";

try {
  // `npm run` changes to the root; paths are relative to where the person stands.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const { port, rulesPath, ...options } = readArguments(process.argv.slice(2), cwd);
  const rules = rulesPath === null ? [] : loadRules(rulesPath);
  const emulator = createEmulator({ ...options, rules });
  const stop = () => void emulator.close();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const { origin, gatewayBaseUrl, directBaseUrl } = await emulator.listen({ port });
  process.stdout.write(
    "The emulator listens; any key will do.\n" +
      `gateway  ${gatewayBaseUrl}\n` +
      `direct   ${directBaseUrl}\n` +
      `control  ${origin}/_emulator/journal, top-up, faults, reset\n`,
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : "It failed."}\n${usageText}\n`);
  process.exitCode = 1;
}
