import { resolve } from "node:path";
import {
  type CliContext,
  collect,
  createCommand,
  examples,
  Option,
  packageVersion,
  portNumber,
  UsageError,
  wholeNumber,
} from "evaluator-kit";
import { engineNames } from "./engine/engines.ts";
import type { Fault } from "./faults/fault.ts";
import type { VendorLimits } from "./vendor-limits.ts";

const parseLimit = wholeNumber({ minimum: 1, maximum: 1_000_000_000 });
const parseMilliseconds = wholeNumber({ maximum: 600_000 });

/**
 * Declares the emulator's options; parsed, they start it.
 *
 * @param name - The typed command, for its help.
 */
export function emulatorCommand(
  name: string,
  { context, start }: { context: CliContext; start: (settings: Settings) => Promise<void> },
) {
  return declareOptions(name, context).action(
    async (options) => await start(await toSettings(options, context.cwd)),
  );
}

function declareOptions(commandName: string, context: CliContext) {
  return createCommand(commandName, { context, version: packageVersion(import.meta.url) })
    .description(
      "A gateway and a vendor of decision models on this machine: their wire, no key, no network.",
    )
    .optionsGroup("Address:")
    .option("--port <n>", "0 takes any free port (8787, else the next free one)", portNumber)
    .option("--host <address>", "another than loopback needs --allow-host", "127.0.0.1")
    .option(
      "--allow-host <name>",
      "also answer to this name, as in a container; repeatable",
      collect,
    )
    .addOption(
      new Option("--tls <file>", "HTTPS; writes the certificate to trust to the file").conflicts([
        "cert",
        "key",
      ]),
    )
    .option("--cert <file>", "HTTPS with your certificate, in PEM")
    .option("--key <file>", "the key of --cert, in PEM")
    .optionsGroup("Answers:")
    .option("--rules <file>", "your own answers, as JSON")
    .option("--seed <n>", "seed of ids and random draws", wholeNumber({ maximum: 2 ** 32 - 1 }), 1)
    .option("--decimals <n>", "decimal places of the numbers", wholeNumber({ maximum: 15 }))
    .option("--no-confidence", "answers without a confidence")
    .addOption(new Option("--engine <name>", "also play a chat server").choices(engineNames))
    .optionsGroup("Limits and faults:")
    .addOption(
      new Option("--tier <tier>", "tier of the accounts at the gateway")
        .choices(["free", "paid"] as const)
        .default("paid" as const),
    )
    .option("--limits", "the vendor's limits: 1200 requests a minute, 250000 tokens a second")
    .option("--requests-per-minute <n>", "requests of each key at the vendor", parseLimit)
    .option("--tokens-per-second <n>", "input tokens of each key at the vendor", parseLimit)
    .option("--burst <n>", "requests that may come at once", parseLimit)
    .option("--latency <ms>", "delay of every call", parseMilliseconds)
    .option("--jitter <ms>", "most further delay, drawn for each call", parseMilliseconds)
    .option(
      "--fault <fault>",
      "KIND[=VALUE][,retry-after=S][,jitter=MS][,next=N][,rate=R][,path=P]; repeatable",
      collect,
    )
    .addHelpText(
      ...examples(
        `${commandName} --port 0 --tier free --seed 7`,
        `${commandName} --limits --burst 50 --latency 150 --jitter 60`,
        `${commandName} --fault status=429,retry-after=2,next=3,path=/v4/ai/evaluation-model`,
        `${commandName} --tls emulator.pem`,
        "curl --cacert emulator.pem https://127.0.0.1:8787/v1/models",
      ),
    );
}

type Options = ReturnType<ReturnType<typeof declareOptions>["opts"]>;

/** The settings of typed options. */
export type Settings = Awaited<ReturnType<typeof toSettings>>;

async function toSettings(options: Options, currentFolder: string) {
  const { port, host, tier, seed, decimals, confidence, engine, rules } = options;
  const limits = toLimits(options);
  return {
    /** Undefined for the default one, which may be taken. */
    port,
    host,
    allowedHosts: options.allowHost ?? [],
    tls: toTls(options, currentFolder),
    tier,
    seed,
    confidence,
    ...(decimals !== undefined && { decimals }),
    ...(limits !== null && { limits }),
    /** In their typed order, the latency last. */
    faults: [...(await toFaults(options.fault)), ...toLatency(options)],
    ...(engine !== undefined && { engine }),
    rulesPath: rules === undefined ? null : resolve(currentFolder, rules),
  };
}

/** Returns the files of a certificate, or the file that a made one is written to. */
function toTls(
  { tls, cert, key }: Options,
  currentFolder: string,
): { readonly cert: string; readonly key: string } | { readonly made: string } | null {
  if (tls !== undefined) return { made: resolve(currentFolder, tls) };
  if (cert === undefined && key === undefined) return null;
  if (cert !== undefined && key !== undefined) {
    return { cert: resolve(currentFolder, cert), key: resolve(currentFolder, key) };
  }
  throw new UsageError("--cert and --key belong together; one is missing.");
}

function toLimits(options: Options): VendorLimits | null {
  const { requestsPerMinute, tokensPerSecond, burst } = options;
  const typedLimits = Object.entries({ requestsPerMinute, tokensPerSecond, burst }).filter(
    ([, typedLimit]) => typedLimit !== undefined,
  );
  return options.limits === true || typedLimits.length > 0 ? Object.fromEntries(typedLimits) : null;
}

// Loaded late: a fault's schema is most of the code that an emulator's help would load.
async function toFaults(faultTexts: readonly string[] | undefined): Promise<Fault[]> {
  if (faultTexts === undefined) return [];
  const { parseFault } = await import("./faults/parse-fault.ts");
  return faultTexts.map(parseFault);
}

function toLatency({ latency, jitter }: Options): Fault[] {
  if (latency === undefined && jitter === undefined) return [];
  const jitterMs = jitter === undefined ? {} : { jitterMs: jitter };
  return [{ kind: "latency", latencyMs: latency ?? 0, ...jitterMs }];
}
