import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { artifactHash, type CalibrationArtifact } from "evaluator-calibration";
import type { Question, Questions, Transport } from "evaluator-client";
import { type Bound, boundFits, boundFrom, type Bounds } from "evaluator-client/escalate";
import { checkName, type CliContext, printable, UsageError } from "evaluator-kit";
import { readCalibration } from "./calibration.ts";
import {
  type ProgramContext,
  type Service,
  toService,
  serviceOfBoth,
  type ServiceOptions,
} from "./service.ts";

/** An engine that is asked again for the unsure answers of the first one. */
export interface NextEngine {
  readonly transport: Transport;
  /** When an answer of the first engine is unsure, by question. */
  readonly bounds: Bounds;
  /** When an answer of this engine is unsure, too; `route` then has the mark. @default never */
  readonly nextBounds?: Bounds | undefined;
}

/** The typed options of a second engine. */
export interface ThenOptions {
  readonly then?: string | undefined;
  readonly unsure?: readonly string[] | undefined;
  readonly thenUnsure?: readonly string[] | undefined;
  readonly calibration?: string | null | undefined;
}

/**
 * Returns the engine that is asked again, with its bounds; null if none is wanted.
 *
 * @throws UsageError if a bound is wrong, fits no question, or is missing.
 */
export async function readNextEngine(
  options: ThenOptions & Omit<ServiceOptions, "engine">,
  questions: Questions,
  { cwd, openTransport }: Pick<ProgramContext, "cwd" | "openTransport">,
): Promise<NextEngine | null> {
  const { then: engine, unsure, thenUnsure, calibration, dryRun, env: all } = options;
  if (engine === undefined) {
    const strayOption = unsure === undefined ? thenUnsure && "--then-unsure" : "--unsure";
    if (strayOption === undefined) return null;
    throw new UsageError(`${strayOption} needs --then ENGINE.`);
  }
  const words = unsure ?? (calibration == null ? [] : [calibration]);
  if (words.length === 0) {
    throw new UsageError(`--then needs --unsure BOUND. ${forms}`);
  }
  const bounds = await readBounds("--unsure", words, { questions, cwd });
  const nextBounds = await readBounds("--then-unsure", thenUnsure ?? [], { questions, cwd });
  // The variable names a model of the first engine.
  const { EVALUATOR_MODEL_ID: _, ...env } = all;
  return { transport: await openTransport({ engine, dryRun, env }), bounds, nextBounds };
}

interface BoundsContext extends Pick<CliContext, "cwd"> {
  readonly questions: Questions;
}

/**
 * Returns when an answer is unsure, by question; a bound of one question goes before one of all.
 *
 * @throws UsageError if a bound is wrong, or fits no question.
 */
async function readBounds(
  option: string,
  texts: readonly string[],
  context: BoundsContext,
): Promise<Bounds> {
  const { questions } = context;
  const [ofAll, ofOne] = [new Map<string, Bound>(), new Map<string, Bound>()];
  for (const text of texts) {
    const { id, bound } = await readBound(option, text, context);
    const ids = id === null ? Object.keys(questions) : [id];
    const fitting = ids.filter((one) => boundFits(bound, one, questions[one] as Question));
    if (fitting.length === 0) {
      throw new UsageError(printable`${option} "${text}" fits no question. ${forms}`);
    }
    const target = id === null ? ofAll : ofOne;
    for (const one of fitting) {
      if (target.has(one))
        throw new UsageError(printable`${option} "${text}" is a second bound of ${one}.`);
      target.set(one, bound);
    }
  }
  return Object.fromEntries([...ofAll, ...ofOne]);
}

const forms =
  "Use 0.8 (the likeliest answer is below), 0.2..0.8 (yes is between) or a calibration.json (no promised threshold is reached); one question: refund=0.8.";

async function readBound(option: string, text: string, { questions, cwd }: BoundsContext) {
  const [, id = null, boundText = ""] = /^(?:(.+)=)?([^=]+)$/s.exec(text) ?? [];
  const wrong = (problem: string) =>
    new UsageError(printable`${option} "${text}" ${problem}. ${forms}`);
  checkName("question", id ?? undefined, Object.keys(questions));
  const bound = boundFrom(boundText);
  if (bound !== null) return { id, bound };
  if (!existsSync(resolve(cwd, boundText))) throw wrong("is no bound");
  return {
    id,
    bound: { promise: await readCalibration(boundText, questions, { cwd }) },
  };
}

/** Returns the service behind a transport, and behind the engine that is asked again, if there is one. */
export function serviceThrough(transport: Transport, next?: NextEngine | null): Service {
  const service = toService(transport);
  if (next == null) return service;
  const { transport: second, bounds, nextBounds = {} } = next;
  const own = describeBounds(nextBounds);
  const markedText = own === "" ? "" : `; its own answers are unsure if ${own}`;
  return serviceOfBoth(service, toService(second), describeBounds(bounds) + markedText);
}

/** Returns bounds in words, for people and for the hash of a run. */
function describeBounds(bounds: Bounds): string {
  const phrases = Object.entries(bounds).map(([id, bound]) => {
    if (bound === undefined) return "";
    if ("below" in bound) return `${id} below ${bound.below}`;
    if ("between" in bound) return `${id} between ${bound.between.join(" and ")}`;
    return `${id} without the promise ${artifactHash(bound.promise as CalibrationArtifact)}`;
  });
  return phrases.join(", ");
}
