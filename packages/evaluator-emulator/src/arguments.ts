import { resolve } from "node:path";
import { parseWords, readPositionals, readWholeNumber, readWord, UsageError } from "evaluator-kit";
import { engineNames } from "./engine/engine-routes.ts";
import { type Fault, parseFault } from "./faults/fault.ts";
import type { VendorLimits } from "./vendor-limits.ts";

/** What the command line asks for. */
export type EmulatorArguments = ReturnType<typeof readArguments>;

/** Returns how the emulator is started. @param command - As it is typed. */
export function emulatorUsage(command = "evaluator-emulator"): string {
  return usage.replaceAll("evaluator-emulator", command);
}

const usage = `Usage: evaluator-emulator [options]

A gateway and a vendor of decision models on this machine: their wire, no key, no network.

Where
  --port N              the port; 0 takes any free one (8787)
  --host ADDRESS        other than loopback only with --allow-host (127.0.0.1)
  --allow-host NAME     may be called by this name too, as in a container; may be repeated
  --tls FILE            HTTPS with a certificate it makes and writes to FILE, to be trusted
  --cert FILE --key FILE  HTTPS with a certificate of yours, both in PEM

Answers
  --rules FILE          answers of your own, as JSON
  --seed N              decides ids and what is drawn (1)
  --decimals N          decimal places of probabilities and scores (2)
  --no-confidence       choice and score answers without a confidence
  --engine NAME         plays a chat server too: openai, vllm, llama.cpp, ollama, sglang

Limits and faults
  --tier free|paid      the account's tier at the gateway (paid)
  --limits              the vendor's own: 1200 requests a minute, 250000 tokens a second
  --requests-per-minute N, --tokens-per-second N, --burst N
                        others, for each key of the vendor's side
  --latency MS          every call takes so much longer
  --jitter MS           and up to so much more, drawn for each call
  --fault KIND[=VALUE][,retry-after=S][,jitter=MS][,next=N][,rate=R][,path=P]
                        what goes wrong; may be repeated

  --help  --version

Examples
  evaluator-emulator --port 0 --tier free --seed 7
  evaluator-emulator --limits --burst 50 --latency 150 --jitter 60
  evaluator-emulator --fault status=429,retry-after=2,next=3,path=/v4/ai/evaluation-model
  evaluator-emulator --tls emulator.pem
  curl --cacert emulator.pem https://127.0.0.1:8787/v1/models
`;

const text = { type: "string" } as const;
const options = {
  port: { ...text, default: "8787" },
  host: { ...text, default: "127.0.0.1" },
  "allow-host": { ...text, multiple: true, default: [] as string[] },
  tls: text,
  cert: text,
  key: text,
  tier: { ...text, default: "paid" },
  seed: { ...text, default: "1" },
  decimals: { ...text, default: "2" },
  "no-confidence": { type: "boolean", default: false },
  limits: { type: "boolean", default: false },
  "requests-per-minute": text,
  "tokens-per-second": text,
  burst: text,
  latency: text,
  jitter: text,
  fault: { ...text, multiple: true, default: [] as string[] },
  rules: text,
  engine: text,
} as const;

type Values = ReturnType<typeof parseWords<typeof options>>["values"];

/**
 * Reads the command line.
 *
 * @param cwd - The folder that a relative path starts from.
 * @throws UsageError that names the argument and what it may be.
 */
export function readArguments(words: readonly string[], cwd: string) {
  const { values, positionals } = parseWords(words, options);
  readPositionals(positionals, []);
  const limits = readLimits(values);
  return {
    host: values.host,
    port: readWholeNumber("--port", values.port, { max: 65_535 }),
    /** Names under which it may be called besides those of this machine. */
    allowedHosts: values["allow-host"],
    /** Where HTTPS gets its certificate from: files, or one that is made and written to a file. */
    tls: readTls(values, cwd),
    tier: readWord("--tier", values.tier, ["free", "paid"]),
    seed: readWholeNumber("--seed", values.seed, { max: 2 ** 32 - 1 }),
    /** Decimal places of probabilities and scores. */
    decimals: readWholeNumber("--decimals", values.decimals, { max: 15 }),
    confidence: !values["no-confidence"],
    ...(limits !== null && { limits }),
    /** The faults in the order given, a latency last. */
    faults: [...values.fault.map(parseFault), ...readLatency(values)],
    ...(values.engine !== undefined && {
      /** The chat server to play as well, or undefined. */
      engine: readWord("--engine", values.engine, engineNames),
    }),
    /** The path of the rules file, or null. */
    rulesPath: values.rules === undefined ? null : resolve(cwd, values.rules),
  };
}

function readTls(
  { tls, cert, key }: Values,
  cwd: string,
): { readonly cert: string; readonly key: string } | { readonly made: string } | null {
  if (tls !== undefined && (cert ?? key) !== undefined) {
    throw new UsageError(
      "--tls makes a certificate; --cert and --key name yours. Give one of both.",
    );
  }
  if (tls !== undefined) return { made: resolve(cwd, tls) };
  if (cert === undefined && key === undefined) return null;
  if (cert !== undefined && key !== undefined) {
    return { cert: resolve(cwd, cert), key: resolve(cwd, key) };
  }
  throw new UsageError("--cert and --key belong together; one is missing.");
}

function readLimits(values: Values): VendorLimits | null {
  const read = (name: "requests-per-minute" | "tokens-per-second" | "burst") => {
    const given = values[name];
    return given === undefined
      ? undefined
      : readWholeNumber(`--${name}`, given, { min: 1, max: 1_000_000_000 });
  };
  const requestsPerMinute = read("requests-per-minute");
  const tokensPerSecond = read("tokens-per-second");
  const burst = read("burst");
  if (!values.limits && (requestsPerMinute ?? tokensPerSecond ?? burst) === undefined) return null;
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerSecond !== undefined && { tokensPerSecond }),
    ...(burst !== undefined && { burst }),
  };
}

function readLatency({ latency, jitter }: Values): Fault[] {
  if (latency === undefined && jitter === undefined) return [];
  const latencyMs = readWholeNumber("--latency", latency ?? "0", { max: 600_000 });
  if (jitter === undefined) return [{ kind: "latency", latencyMs }];
  const jitterMs = readWholeNumber("--jitter", jitter, { max: 600_000 });
  return [{ kind: "latency", latencyMs, jitterMs }];
}
