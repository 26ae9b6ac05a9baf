import { UsageError } from "evaluator-kit";
import type { Transport } from "evaluator-client";
import type { RunStore } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import { findRunPrice, type RunPrice } from "../money/price.ts";
import { readNextEngine, serviceThrough } from "../next-engine.ts";
import type { WorkCommand } from "../options.ts";
import { toInputName } from "../output/paths.ts";
import type { AskedEngines } from "../run/ask-engines.ts";
import type { ProgramContext } from "../service.ts";
import { parseKeptQuestions } from "../journal/kept-questions.ts";

/** This machine as a worker; what it asks depends on the questions of a run. */
export interface WorkMachine {
  readonly url: string;
  readonly runs: RunStore;
  readonly transport: Transport;
  readonly program: ProgramContext;
  readonly priceOf: (next: AskedEngines["next"]) => Promise<RunPrice>;
}

type PriceServices = Pick<ProgramContext, "openCatalog" | "env" | "signal">;

/** Returns a function that finds the prices of this machine's engines once. */
export function priceFinder(
  command: WorkCommand,
  transport: Transport,
  { openCatalog, env, signal }: PriceServices,
): WorkMachine["priceOf"] {
  let foundPromise: Promise<RunPrice> | null = null;
  const findOnce = async (nextEngine: AskedEngines["next"]) => {
    const firstEngine = { transport, catalog: await openCatalog({ ...command, env }) };
    const askedAgain = nextEngine && {
      transport: nextEngine.transport,
      catalog: await openCatalog({ ...command, engine: command.then, env }),
    };
    return await findRunPrice(command, [firstEngine, askedAgain ?? null], signal);
  };
  return (nextEngine) => (foundPromise ??= findOnce(nextEngine));
}

/** Returns the engines of this machine for the questions of a run. @throws UsageError for bounds that do not fit them */
export async function enginesFor(
  { setup }: RunInfo,
  command: WorkCommand,
  { transport, program }: Pick<WorkMachine, "transport" | "program">,
) {
  const questions = parseKeptQuestions(setup.questions);
  const next = await readNextEngine({ ...command, env: program.env }, questions, program);
  return { transport, next, service: serviceThrough(transport, next) };
}

/** Returns the oldest open run of the engines, else one of other engines, or null. */
export async function nextRun(command: WorkCommand, machine: WorkMachine): Promise<RunInfo | null> {
  const listedRuns = await machine.runs.list(toInputName(command.file));
  const openRuns = listedRuns.filter(({ state }) => state === "open");
  for (const openRun of openRuns) if (await isOwn(openRun, command, machine)) return openRun;
  return openRuns[0] ?? null;
}

async function isOwn(info: RunInfo, command: WorkCommand, machine: WorkMachine): Promise<boolean> {
  try {
    const { service } = await enginesFor(info, command, machine);
    return info.setup.wire === service.address && info.setup.modelId === service.modelId;
  } catch (error) {
    // The bounds of another run's questions.
    if (error instanceof UsageError) return false;
    throw error;
  }
}
