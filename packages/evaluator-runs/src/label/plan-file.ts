import { existsSync } from "node:fs";
import {
  actionsOf,
  type AnswerColumn,
  parsePromisePlan,
  type PromisePlan,
  type PromisePool,
  promisePool,
  replayPlan,
} from "evaluator-calibration";
import { CliError, printable, readParsedFile, toFileError, UsageError } from "evaluator-kit";
import { writePrivateFile } from "../output/write-records.ts";

/** A planned action, and the answers that it is about. */
export type PooledAction = Omit<PromisePlan["actions"][number], "pool"> & {
  readonly pool: PromisePool;
};

/** What a person wants to be promised; undefined is the value of an existing plan, or the default. */
interface WantedPlan extends Record<keyof typeof defaults, number | undefined> {
  readonly actions: readonly PooledAction[];
}

/** Returns wanted actions with their answers, each action once. @throws UsageError if an answer has none such. */
export function withPools(
  wanted: readonly Omit<PooledAction, "pool">[],
  columnOf: (question: string) => AnswerColumn | undefined,
): PooledAction[] {
  const unique = new Map(wanted.map((one) => [`${one.question}=${one.action}`, one]));
  return Array.from(unique, ([name, { question, action }]) => {
    const column = columnOf(question);
    const actions = column === undefined ? [] : actionsOf[column.form];
    if (column !== undefined && actions.includes(action)) {
      return { question, action, pool: promisePool(column) };
    }
    const known = actions.map((one) => `${question}=${one}`).join(" or ") || "an answered question";
    throw new UsageError(printable`--for-promise ${name} fits no answer; use ${known}.`);
  });
}

const defaults = { maxRisk: 0.05, confidence: 0.95, seed: 20_260_101 };

/** Returns the path of the plan beside a file of labels: `NAME.promise.json` beside `NAME.labels.ndjson`. */
export function toPlanPath(labelsPath: string): string {
  return `${labelsPath.replace(/(?:\.labels)?\.\w+$/, "")}.promise.json`;
}

/** Reads a plan. @throws CliError with its name and the problem. */
export async function readPlan(path: string): Promise<PromisePlan> {
  const advice = "Put the plan there that the labels were drawn by.";
  return await readParsedFile(path, { parse: parsePromisePlan, advice });
}

/**
 * Returns the plan beside a file of labels, which is created if it is missing.
 *
 * @throws CliError if the file has another plan: a second one for an action would be a second try.
 */
export async function openPlan(labelsPath: string, wanted: WantedPlan): Promise<PromisePlan> {
  const path = toPlanPath(labelsPath);
  if (!existsSync(path)) return await createPlan(path, wanted);
  const plan = await readPlan(path);
  for (const name of ["maxRisk", "confidence", "seed"] as const) {
    if (wanted[name] !== undefined && wanted[name] !== plan[name]) throw anotherPlan(path, plan);
  }
  for (const { question, action, pool } of wanted.actions) {
    const planned = plan.actions.find((one) => one.question === question && one.action === action);
    if (planned === undefined) throw anotherPlan(path, plan);
    if (planned.pool === pool.hash) continue;
    const problem = printable`${path} was planned for other answers: a run has changed them since`;
    throw new CliError(
      `${problem}. Use the answers of that time, or plan for these with --labels FILE.`,
    );
  }
  return plan;
}

async function createPlan(path: string, wanted: WantedPlan): Promise<PromisePlan> {
  const { maxRisk, confidence, seed } = defaults;
  const plan: PromisePlan = {
    version: 1,
    actions: wanted.actions.map(({ pool, ...action }) => ({ ...action, pool: pool.hash })),
    maxRisk: wanted.maxRisk ?? maxRisk,
    confidence: wanted.confidence ?? confidence,
    seed: wanted.seed ?? seed,
  };
  for (const action of wanted.actions) {
    const { draw } = replayPlan({ plan, action, pool: action.pool, labels: undefined });
    if (draw.regionSize > 0) continue;
    const problem = printable`No record may be acted on with ${action.question}=${action.action}`;
    const why = `by the printed values, each threshold has more than ${100 * plan.maxRisk} % wrong`;
    throw new CliError(`${problem}: ${why}. Ask about more records, or use a higher --require.`);
  }
  await writePrivateFile(path, `${JSON.stringify(plan, null, 2)}\n`).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "Choose another place with --labels.");
  });
  return plan;
}

function anotherPlan(path: string, { actions, maxRisk, confidence, seed }: PromisePlan): CliError {
  const names = actions.map(({ question, action }) => `${question}=${action}`).join(", ");
  const words = `--require ${maxRisk} --confidence ${confidence} --seed ${seed}`;
  const problem = printable`${path} plans ${names} with ${words}; another plan would be a second try`;
  return new CliError(`${problem}. Use these words, or plan other actions with --labels FILE.`);
}
