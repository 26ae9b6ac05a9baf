import { once } from "node:events";
import { hostname } from "node:os";
import process from "node:process";
import { setImmediate, setTimeout } from "node:timers/promises";
import {
  type CalibrationArtifact,
  parseCalibrationArtifact,
  questionProblem,
} from "evaluator-calibration";
import { ConfigurationError } from "evaluator-client";
import {
  type CliContext,
  CliError,
  describeDefect,
  InterruptedError,
  isLoopbackHost,
  printAtMost,
  readParsedFile,
  toPrintable,
} from "evaluator-kit";
import type { TierFit } from "./decision/decision.ts";
import { readCalibrations } from "./evaluations/calibrations.ts";
import { tierQuestionHash } from "./decision/tier-question.ts";
import { openDecisionLog } from "./records/decision-log.ts";
import type { ModelPrice } from "./reply/usage.ts";
import type { RouterOptions } from "./router-options.ts";
import { connectServices, type Services } from "./services/connect-services.ts";
import { refreshDaily, refreshPrices } from "./refresh-prices.ts";
import { startRouter } from "./start-router.ts";

type ReadOptions = () => Promise<RouterOptions>;

/** Runs a router until the signal aborts. @throws CliError, ConfigurationError for wrong options. */
export async function runRouter(readOptions: ReadOptions, context: CliContext): Promise<void> {
  const options = await readOptions();
  const { sharedLimit, traceProtocol, warnings } = options;
  const warn = (warning: string) => void context.stderr.write(warning);
  for (const warningLine of warnings) warn(`${warningLine}\n`);
  // Loaded only if they are set: together they are more code than the rest of a start.
  const tracing =
    traceProtocol && (await import("./services/tracing.ts")).startTracing(traceProtocol);
  const openedLimit =
    sharedLimit === null
      ? null
      : await (await import("./services/shared-limit.ts")).openSharedLimit(sharedLimit, warn);
  try {
    const services = connectServices(options, { sharedLimit: openedLimit, tracing });
    await serve(services, { options, readOptions }, context);
  } finally {
    await tracing?.close();
    await openedLimit?.[Symbol.asyncDispose](); // its connections would keep the process alive
  }
}

/** Reads the configuration with its prices, and the fit, again; after an error the old ones stay. */
async function reconfigure(
  { services, fit }: { services: Services; fit: TierFit | null },
  readOptions: ReadOptions,
  { warn, refresh }: { warn: (warning: string) => void; refresh: () => Promise<void> },
): Promise<void> {
  try {
    const options = await readOptions();
    const nextFit = await loadFit(options); // fails for other models
    services.reconfigure(options);
    Object.assign(fit ?? {}, nextFit);
    if ((options.config ?? fit) === null) return;
    warn("The configuration was read again.\n");
    await refresh();
  } catch (error) {
    if (!(error instanceof CliError || error instanceof ConfigurationError)) throw error;
    warn(`${error.message} The router goes on with the old configuration.\n`);
  }
}

async function serve(
  services: Services,
  { options, readOptions }: { options: RouterOptions; readOptions: ReadOptions },
  context: CliContext,
) {
  const { stdout, stderr } = context;
  const signal = AbortSignal.any([context.signal, endOfNpm(context.env["npm_lifecycle_event"])]);
  const write = (lineText: string) => void stdout.write(lineText);
  const warn = (warning: string) => void stderr.write(warning);
  const reportDefect = (error: Error) => warn(describeDefect(error, "The router"));
  const { decisionLog: logPath, calibrationFile, host, keyStore, leaseMs } = options;
  const calibration = calibrationFile === null ? null : await readCalibration(calibrationFile);
  const calibrations = await readCalibrations(options.decisionCalibrationFiles);
  const fit = await loadFit(options);
  const log = logPath === null ? null : await openDecisionLog(logPath, warn);
  const { keys, ledger } = keyStore === null ? noKeys : await openKeys(keyStore, leaseMs, warn);
  const prices = new Map<string, ModelPrice>();
  const namedOptions = { ...options, instance: options.instance ?? `${hostname()}-${process.pid}` };
  const sharedParts = { services, prices, ledger, log, reportDefect };
  const blind = options.blind.share === 0 ? null : await import("./blind/blind-shadow.ts");
  const blindShadow = blind?.openBlindShadow(namedOptions, sharedParts) ?? null;
  const pricesTried = Promise.withResolvers<void>();
  let outdatedController = new AbortController();
  const refresh = () => {
    outdatedController.abort();
    outdatedController = new AbortController();
    const eitherSignal = AbortSignal.any([signal, outdatedController.signal]);
    const onTried = pricesTried.resolve;
    return refreshPrices({ ...services, prices, onTried, signal: eitherSignal, write, warn });
  };
  // At a terminal, SIGHUP means that the terminal was closed.
  if (stdout.isTTY !== true) {
    process.on("SIGHUP", () => {
      void log?.reopen();
      void keys?.reload();
      reconfigure({ services, fit }, readOptions, { warn, refresh }).catch(reportDefect);
    });
  }
  const startedRouter = await startUnlessInterrupted(
    {
      ...sharedParts,
      options: namedOptions,
      keys,
      blindShadow,
      calibration,
      calibrations,
      fit,
      warn,
      pricesTried: pricesTried.promise,
      ...(options.hasAccessLog && { accessLog: stdout }),
    },
    signal,
  );
  write(describeStart(startedRouter.origin, services, calibration));
  if (blindShadow !== null) write(`${describeBlindCost(options.blind)}\n`);
  if (!isLoopbackHost(host))
    warn(`${options.addressSettings.hostSetting}${host}: ${exposedWarning}\n`);
  const refreshedPromise = refreshDaily(refresh, { signal }).catch(reportDefect);
  if (!signal.aborted) await once(signal, "abort");
  await startedRouter.close();
  await refreshedPromise;
  await blindShadow?.close();
  await ledger?.close();
  await keys?.close();
  await log?.close();
}

const noKeys = { keys: null, ledger: null };

async function openKeys(storeAddress: string, leaseMs: number, warn: (warning: string) => void) {
  const [{ openLiveKeys }, { openLedger }, { Ledger }, { hasBudget }] = await Promise.all([
    import("./keys/key-store.ts"),
    import("./keys/key-database.ts"),
    import("./keys/ledger.ts"),
    import("./keys/budget-state.ts"),
  ]);
  const ledger = new Ledger(() => openLedger(storeAddress), { leaseMs });
  const keys = await openLiveKeys(storeAddress, warn);
  if (keys.current().some(hasBudget)) await ledger.checkWritable().catch(() => warn(noLedger));
  return { keys, ledger };
}

const noLedger =
  "The ledger of the budgets, beside ROUTER_KEYS, cannot be written: each call of a key with a budget gets 503. In a container, keep ROUTER_KEYS on a volume.\n";

function describeStart(
  origin: string,
  { decider, replier, notice, replies }: Services,
  calibration: CalibrationArtifact | null,
): string {
  const startLines = [
    `The router is at ${origin} (asked to decide: ${decider}; to reply: ${replier})`,
    notice,
  ];
  if (calibration !== null) {
    const model = toPrintable(calibration.model.id ?? "an unnamed model");
    startLines.push(`Decisions of ${model} are calibrated on ${calibration.fittedOn.n} labels.`);
  }
  if (replies.catalogs.length === 0) {
    startLines.push("Replies have no price list, so their costs and the savings are unknown.");
  }
  return `${startLines.join("\n")}\n`;
}

function describeBlindCost({ share, usdPerDay }: RouterOptions["blind"]): string {
  return `Blind shadow: the cheapest and the dearest tier also answer ${printAtMost(share)} of auto's messages, for at most $${usdPerDay} a day.`;
}

/** A SIGTERM to `npm start` ends npm and its shell, but not this process: only its parent changes. */
function endOfNpm(npmScript: string | undefined): AbortSignal {
  const end = new AbortController();
  const parentId = process.ppid;
  const checkParent = () => process.ppid === parentId || end.abort(new InterruptedError("SIGTERM"));
  if (npmScript !== undefined) setInterval(checkParent, 250).unref();
  return end.signal;
}

/** Time to notice a signal, in milliseconds. Chosen. */
const NOTICE_MS = 100;

/** A signal to the process group also ends the page's bundler, which may be noticed first. */
async function startUnlessInterrupted(
  routerParts: Parameters<typeof startRouter>[0],
  signal: AbortSignal,
) {
  try {
    const startedRouter = await startRouter(routerParts);
    if (signal.aborted) await startedRouter.close();
    signal.throwIfAborted();
    return startedRouter;
  } catch (error) {
    await setTimeout(NOTICE_MS);
    await setImmediate(); // a busy machine may be late for the timer, before it looks for signals
    signal.throwIfAborted();
    throw error;
  }
}

/** Reads a calibration of `evaluator-cli calibrate`. @throws CliError if it does not fit the tier question. */
async function readCalibration(artifactPath: string): Promise<CalibrationArtifact> {
  const { recalibrationOf } = await import("evaluator-calibration/statistics");
  return readParsedFile(artifactPath, {
    fileName: `ROUTER_CALIBRATION=${JSON.stringify(artifactPath)}`,
    parse(artifactText) {
      const artifact = parseCalibrationArtifact(artifactText);
      const problem = questionProblem(artifact, tierQuestionHash);
      if (problem !== null) throw new Error(problem);
      const isCorrection = recalibrationOf(artifact, "tier")?.kind === "temperature";
      const isPromise = artifact.thresholds.some(({ question }) => question === "tier");
      if (isCorrection || isPromise) return artifact;
      throw new Error("corrects and promises no choice of a tier");
    },
    advice:
      "Name a calibration.json that evaluator-cli calibrate wrote from this router's decision log.",
  });
}

async function loadFit({ fitFile, tierModels }: RouterOptions) {
  if (fitFile === null) return null;
  const { readFit } = await import("./fit/artifact.ts");
  return await readFit(fitFile, tierModels, `ROUTER_FIT=${JSON.stringify(fitFile)}`);
}

const exposedWarning =
  "other machines can reach this router. Whoever has its access token or a key can spend your credits; tokens and all messages cross the network unencrypted unless a proxy adds TLS.";
