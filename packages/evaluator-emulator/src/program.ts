import { once } from "node:events";
import {
  type Certificate,
  type CliContext,
  packageVersion,
  readTextFile,
  runToExitCode,
  selfSignedCertificate,
  toFileError,
  writeWholeFile,
} from "evaluator-kit";
import { type EmulatorArguments, emulatorUsage, readArguments } from "./arguments.ts";

/** What the program needs of the machine it runs on. */
export type ProgramContext = Pick<CliContext, "cwd" | "stdout" | "stderr" | "signal">;

/**
 * Runs the emulator as typed until its signal aborts; returns the exit code.
 *
 * @param command - What was typed before the words; for its usage. @default "evaluator-emulator"
 */
export function runEmulator(
  words: readonly string[],
  context: ProgramContext,
  command = "evaluator-emulator",
): Promise<number> {
  const help = { command, usage: emulatorUsage(command) };
  // An error is printed here: the caller may be a package with its own copy of the error classes.
  const own = context as CliContext;
  return runToExitCode(start, words, { name: "The emulator", help, context: own });
}

export { emulatorUsage } from "./arguments.ts";

async function start(words: readonly string[], context: CliContext): Promise<number> {
  const { cwd, stdout, signal } = context;
  if (words.includes("--version")) {
    stdout.write(`${packageVersion(import.meta.url)}\n`);
    return 0;
  }
  const { host, port, allowedHosts, tls, rulesPath, ...options } = readArguments(words, cwd);
  // Only now: usage and wrong words need none of it.
  const { createEmulator } = await import("./create-emulator.ts");
  const { loadRules } = await import("./rules/rule.ts");
  const rules = rulesPath === null ? [] : loadRules(rulesPath);
  const certificate = await readCertificate(tls, allowedHosts);
  const emulator = createEmulator({ ...options, rules });
  const { origin, gatewayBaseUrl, directBaseUrl } = await emulator.listen({
    host,
    port,
    allowedHosts,
    ...(certificate !== null && { tls: certificate }),
  });
  stdout.write(
    "The emulator listens; any key will do.\n" +
      `gateway  ${gatewayBaseUrl}\n` +
      `direct   ${directBaseUrl}\n` +
      (options.engine === undefined ? "" : `${options.engine.padEnd(8)} ${origin}\n`) +
      `control  ${origin}/_emulator/requests, top-up, faults, reset\n` +
      (tls !== null && "made" in tls ? `trust    ${tls.made}\n` : ""),
  );
  if (!signal.aborted) await once(signal, "abort");
  await emulator.close();
  return 0;
}

/** Reads the certificate of yours, or makes one and writes it, without its key, for you to trust. */
async function readCertificate(
  tls: EmulatorArguments["tls"],
  allowedHosts: readonly string[],
): Promise<Certificate | null> {
  if (tls === null) return null;
  if ("cert" in tls) {
    const advice = "--cert and --key take PEM files.";
    return { cert: await readTextFile(tls.cert, advice), key: await readTextFile(tls.key, advice) };
  }
  const made = selfSignedCertificate(allowedHosts);
  await writeWholeFile(tls.made, made.cert).catch((error: unknown) => {
    throw toFileError(error, `write ${tls.made}`, "--tls takes the file for its certificate.");
  });
  return made;
}
