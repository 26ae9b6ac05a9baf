import { once } from "node:events";
import { hostname } from "node:os";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import {
  type CalibrationArtifact,
  parseCalibrationArtifact,
  recalibrationOf,
} from "evaluator-calibration";
import { BundlerGoneError } from "evaluator-kit/bundle-script";
import { isLoopbackHost, readParsedFile, type TextSink, toPrintable } from "evaluator-kit";
import type { RouterOptions } from "./options/router-options.ts";
import type { ModelPrice } from "./prices/tokens.ts";
import { refreshPrices } from "./prices/refresh-prices.ts";
import { openDecisionLog } from "./records/decision-log.ts";
import { connectServices } from "./services/connect-services.ts";
import type { Services } from "./services/services.ts";
import { openSharedLimit } from "./services/shared-limit.ts";
import { type RouterParts, startRouter } from "./start-router.ts";
import { tierQuestionHash } from "./tier-question.ts";

/** Where a running router prints, and what stops it. */
export interface RouterContext {
  /** Ends the router, after the answers in flight. */
  readonly signal: AbortSignal;
  /** Where what is as it should be is printed. */
  readonly stdout: TextSink;
  /** Where what a person should look at is printed. */
  readonly stderr: TextSink;
  /** Calls the listener when the log's file was moved away, which is what SIGHUP says. */
  readonly onHangUp: (listener: () => void) => void;
  /** Called with an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
}

/**
 * Runs a router until the signal: says where it is and who answers, and checks its models.
 *
 * @throws CliError or ConfigurationError when it cannot start as it is set up.
 */
export async function runRouter(options: RouterOptions, context: RouterContext): Promise<void> {
  const { sharedLimit } = options;
  const write = (text: string) => void context.stdout.write(text);
  const warn = (text: string) => void context.stderr.write(text);
  for (const line of options.warnings) warn(`${line}\n`);
  // Loaded only now: it is most of what a router would load.
  const tracing = options.hasTraces ? (await import("./services/tracing.ts")).startTracing() : null;
  const limit = sharedLimit === null ? null : await openSharedLimit(sharedLimit, { warn });
  try {
    const services = connectServices(options.engines, { sharedLimit: limit, tracing });
    await serve(services, options, { ...context, write, warn });
  } finally {
    await tracing?.close();
    await limit?.[Symbol.asyncDispose](); // its connections would keep the process alive
  }
}

interface ServeContext extends RouterContext {
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
}

async function serve(services: Services, options: RouterOptions, context: ServeContext) {
  const { signal, stdout, write, warn, reportDefect } = context;
  const { decisionLog, calibrationFile } = options;
  const calibration = calibrationFile === null ? null : await readCalibration(calibrationFile);
  const log = decisionLog === null ? null : await openDecisionLog(decisionLog, { warn });
  if (log !== null) context.onHangUp(() => void log.reopen());
  const prices = new Map<string, ModelPrice>();
  const pricesTried = Promise.withResolvers<void>();
  const parts: RouterParts = {
    options,
    services,
    instance: options.instance ?? `${hostname()}-${process.pid}`,
    calibration,
    reportDefect,
    prices,
    pricesTried: pricesTried.promise,
    ...(decisionLog !== null && { drawDecisions: () => drawDecisions(decisionLog) }),
    ...(log !== null && {
      observe: log.observe,
      keepFeedback: log.keepFeedback,
      logDropped: log.dropped,
    }),
    ...(options.hasAccessLog && { accessLog: stdout }),
  };
  const router = await startUnlessInterrupted(parts, signal);
  const { catalog, redact, decider, replier, notice } = services;
  write(
    `The router is at ${router.origin} (asked to decide: ${decider}; to reply: ${replier})\n${notice}\n`,
  );
  if (calibration !== null) write(`${describeCalibration(calibration)}\n`);
  if (!isLoopbackHost(options.host)) warn(exposureNotice(options.host));
  const { tierModels, policy } = options;
  const models = { tierModels, fallbackModels: policy.fallbackModels };
  const onTried = pricesTried.resolve;
  if (catalog === null) {
    write(noPrices);
    onTried();
  }
  const refresh = catalog && { catalog, redact, models, prices, onTried };
  const refreshed = refresh && refreshPrices(refresh, { signal, write, warn }).catch(reportDefect);
  await untilAborted(signal);
  await router.close();
  await refreshed;
  await log?.close();
}

/**
 * Starts the router, and throws the signal's reason where it was interrupted meanwhile. What is sent
 * to the whole process group ends the page's bundler too, and its end may be noticed first.
 */
async function startUnlessInterrupted(parts: RouterParts, signal: AbortSignal) {
  try {
    const router = await startRouter(parts);
    if (signal.aborted) await router.close();
    signal.throwIfAborted();
    return router;
  } catch (error) {
    if (!(error instanceof BundlerGoneError)) throw error;
    await setImmediate();
    signal.throwIfAborted();
    throw error;
  }
}

// Loaded only when somebody wants to see it.
async function drawDecisions(decisionLog: string): Promise<string> {
  const { decisionsPage } = await import("./report/decisions-page.ts");
  return decisionsPage(decisionLog);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

const noPrices = "Replies have no price list, so what they cost and what is saved is not known.\n";

/**
 * Reads the calibration that `evaluator calibrate` wrote for the question that picks a tier.
 *
 * @throws CliError when it is none, was made for other questions, or holds nothing for this one.
 */
function readCalibration(path: string): Promise<CalibrationArtifact> {
  return readParsedFile(path, {
    name: `ROUTER_CALIBRATION=${JSON.stringify(path)}`,
    parse(text) {
      const artifact = parseCalibrationArtifact(text);
      if (artifact.questionHash === null) throw new Error("does not name its questions");
      if (artifact.questionHash !== tierQuestionHash) {
        throw new Error("was made for other questions than the one that picks a tier");
      }
      if (recalibrationOf(artifact, "tier")?.kind === "temperature") return artifact;
      throw new Error("corrects no choice of a tier");
    },
    advice:
      "Name a calibration.json that evaluator calibrate wrote from this router's decision log.",
  });
}

function describeCalibration({ fittedOn, model }: CalibrationArtifact): string {
  return `Decisions of ${toPrintable(model.id ?? "an unnamed model")} are calibrated on ${fittedOn.n} labels.`;
}

function exposureNotice(host: string): string {
  return [
    `HOST=${host}: other machines can reach this router. Whoever has its access token can spend`,
    "your credits; the token and all messages cross the network unencrypted unless a proxy adds TLS.\n",
  ].join(" ");
}
