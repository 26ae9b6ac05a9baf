import { resolve } from "node:path";
import {
  type AnswerTable,
  type LabelJoin,
  type PlannedPromise,
  promisePool,
  replayPlan,
} from "evaluator-calibration";
import { CliError, type CliContext, printable } from "evaluator-kit";
import type { CalibrateOptions } from "../commands/report-commands.ts";

/**
 * Returns the promises that labels were drawn for one by one, by the plan beside their file.
 *
 * @throws CliError if the plan is of other labels or answers, or promises something else.
 */
export async function plannedPromises(
  typed: CalibrateOptions,
  { table, join }: { readonly table: AnswerTable; readonly join: LabelJoin },
  { cwd }: CliContext,
): Promise<PlannedPromise[]> {
  if (join.plans.size === 0) return [];
  const { readPlan, toPlanPath } = await import("evaluator-runs");
  const name = toPlanPath(typed.labels);
  const plan = await readPlan(resolve(cwd, name));
  const refuse = (problem: string, advice: string): never => {
    throw new CliError(printable`${name} ${problem}. ${advice}`);
  };
  const { action: wanted, require: maxRisk = plan.maxRisk, confidence } = typed;
  const actions = plan.actions.filter(
    ({ question, action }) =>
      table.questions.includes(question) &&
      (wanted?.some((one) => one.question === question && one.action === action) ?? true),
  );
  const spent = ((1 - plan.confidence) * actions.length) / plan.actions.length;
  if (maxRisk !== plan.maxRisk || spent > 1 - confidence + 1e-9) {
    const words = `--require ${plan.maxRisk} --confidence ${plan.confidence}`;
    refuse(`promises ${words}`, "Use these words, or name other acts with --action.");
  }
  return actions.map((action) => {
    const columns = table.columns.filter(({ question }) => question === action.question);
    const pool = columns.map(promisePool).find(({ hash }) => hash === action.pool);
    if (pool === undefined) {
      return refuse("was planned for other answers", "Name the answers of that time.");
    }
    const labels = join.drawn.find(({ column }) => column === pool.column);
    return replayPlan({ plan, action, pool, labels });
  });
}
