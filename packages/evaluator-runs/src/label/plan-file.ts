import { existsSync } from "node:fs";
import {
  actionsOf,
  type AnswerColumn,
  type LabelJoin,
  parsePromisePlan,
  type PlannedPromise,
  type PromisePlan,
  promisePool,
  replayPlan,
} from "evaluator-calibration/reports";
import { CliError, printable, printShare, readParsedFile, UsageError } from "evaluator-kit";
import { writePrivateFile } from "../output/write-records.ts";

const defaults = { maxRisk: 0.05, confidence: 0.95, seed: 20_260_101 };

/** The wanted promises; an undefined number is that of an existing plan, or the default. */
interface WantedPlan extends Record<keyof typeof defaults, number | undefined> {
  readonly forPromise: readonly Pick<PlannedPromise, "question" | "action">[];
  /** Returns the answers to a question. */
  readonly columnOf: (question: string) => AnswerColumn | undefined;
}

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
 * Returns the wanted promises after the labels so far, by the plan beside their file, which is written if it
 * is missing.
 *
 * @throws CliError if the file has another plan: a second one for an action would be a second try.
 * @throws CalibrationInputError if the plan was made for other answers, or a label is of another plan.
 */
export async function openPlan(labelsPath: string, wanted: WantedPlan, join: LabelJoin) {
  const path = toPlanPath(labelsPath);
  const isNew = !existsSync(path);
  const plan = isNew ? newPlan(wanted) : await readPlan(path);
  checkPlan(path, plan, wanted);
  const promises = replayPlan(plan, join, { file: path, isWanted: isOneOf(wanted.forPromise) });
  if (!isNew) return { plan, promises };
  const empty = promises.find(({ draw }) => draw.regionSize === 0);
  if (empty !== undefined) {
    const problem = printable`No record may be acted on with ${empty.question}=${empty.action}`;
    const why = `by the printed values, each threshold has more than ${printShare(plan.maxRisk)} wrong`;
    throw new CliError(`${problem}: ${why}. Ask about more records, or use a higher --require.`);
  }
  const advice = "Choose another place with --labels.";
  await writePrivateFile(path, `${JSON.stringify(plan, null, 2)}\n`, advice);
  return { plan, promises };
}

/** Returns a function that finds actions among others. */
export function isOneOf(actions: WantedPlan["forPromise"]) {
  return ({ question, action }: WantedPlan["forPromise"][number]) =>
    actions.some((one) => one.question === question && one.action === action);
}

function newPlan({ forPromise, columnOf, maxRisk, confidence, seed }: WantedPlan): PromisePlan {
  const unique = new Map(forPromise.map((one) => [`${one.question}=${one.action}`, one]));
  return {
    version: 1,
    actions: Array.from(unique, ([name, { question, action }]) => {
      const column = columnOf(question);
      const known = column === undefined ? [] : actionsOf[column.form];
      if (column && known.includes(action)) {
        return { question, action, pool: promisePool(column).hash };
      }
      const words = known.map((one) => `${question}=${one}`).join(" or ") || "an answered question";
      throw new UsageError(printable`--for-promise ${name} fits no answer; use ${words}.`);
    }),
    maxRisk: maxRisk ?? defaults.maxRisk,
    confidence: confidence ?? defaults.confidence,
    seed: seed ?? defaults.seed,
  };
}

function checkPlan(path: string, plan: PromisePlan, wanted: WantedPlan): void {
  const isSame = (["maxRisk", "confidence", "seed"] as const).every((name) => {
    return wanted[name] === undefined || wanted[name] === plan[name];
  });
  if (isSame && wanted.forPromise.every(isOneOf(plan.actions))) return;
  const names = plan.actions.map(({ question, action }) => `${question}=${action}`).join(", ");
  const words = `--require ${plan.maxRisk} --confidence ${plan.confidence} --seed ${plan.seed}`;
  const problem = printable`${path} plans ${names} with ${words}; another plan would be a second try`;
  throw new CliError(`${problem}. Use these words, or plan other actions with --labels FILE.`);
}
