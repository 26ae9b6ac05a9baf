import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import {
  type Certificate,
  checkOutput,
  type CliContext,
  readTextFile,
  runCommand,
  runToExitCode,
  selfSignedCertificate,
  writeWholeFile,
} from "evaluator-kit";
import { emulatorCommand, type Settings } from "./arguments.ts";

/**
 * Runs the emulator until its signal aborts, and returns the exit code.
 *
 * @param command - The typed command, for its help. @default "evaluator-emulator"
 */
export function runEmulator(
  words: readonly string[],
  context: Pick<CliContext, "cwd" | "stdout" | "stderr" | "signal">,
  command = "evaluator-emulator",
): Promise<number> {
  // Errors are printed here: the caller may be a package with its own copy of the error classes.
  const own = { ...context, exitCode: 0 } as CliContext;
  const program = () =>
    emulatorCommand(command, { context: own, start: (settings) => start(settings, own) });
  return runToExitCode(() => runCommand(program(), words, own), words, {
    name: "The emulator",
    context: own,
  });
}

async function start(settings: Settings, { stdout, stderr, signal }: CliContext): Promise<void> {
  const { host, port, allowedHosts, tls, rulesPath, ...options } = settings;
  // Help and wrong words need none of it.
  const { createEmulator, loadRules } = await import("./index.ts");
  const rules = rulesPath === null ? [] : loadRules(rulesPath);
  const certificate = await readCertificate(tls, allowedHosts);
  const emulator = createEmulator({ ...options, rules });
  const { origin, gatewayBaseUrl, directBaseUrl } = await emulator.listen({
    host,
    port: port ?? 8787,
    ...(port === undefined && { warn: (line) => void stderr.write(line) }),
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
}

/** Reads the user's certificate, or makes one and writes it without its key. */
async function readCertificate(
  tls: Settings["tls"],
  allowedHosts: readonly string[],
): Promise<Certificate | null> {
  if (tls === null) return null;
  if ("cert" in tls) {
    const note = "--cert and --key take PEM files.";
    return { cert: await readTextFile(tls.cert, note), key: await readTextFile(tls.key, note) };
  }
  const ownCertificate = selfSignedCertificate(allowedHosts);
  const note = "--tls takes the file for its certificate.";
  await checkOutput(tls.made, [], { isOwn: isOwnCertificate });
  await writeWholeFile(tls.made, ownCertificate.cert, { isPublic: true, failureNote: note });
  return ownCertificate;
}

function isOwnCertificate(certificateText: string): boolean {
  if (!certificateText.startsWith("-----BEGIN CERTIFICATE-----")) return false;
  const { subject, issuer } = new X509Certificate(certificateText);
  return subject === "CN=localhost" && issuer === subject;
}
