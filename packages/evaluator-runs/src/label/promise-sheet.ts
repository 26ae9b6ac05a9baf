import { existsSync } from "node:fs";
import {
  actionsOf,
  type AnswerColumn,
  LabelJoin,
  parsePromisePlan,
  type PlannedPromise,
  type PromisePlan,
  promisePool,
  replayPlan,
} from "evaluator-calibration/reports";
import type { Question } from "evaluator-client";
import {
  checkName,
  CliError,
  printable,
  printAtLeast,
  printAtMost,
  printThreshold,
  readParsedFile,
  UsageError,
  writeWholeFile,
} from "evaluator-kit";
import { describePromisedRisk, printCount, printCounted } from "../amounts.ts";
import type { LabelFile } from "./label-file.ts";
import type { LabelledAnswers, LabelSheet } from "./label-sheet.ts";
import type { LabelCommand } from "../options.ts";

/** Plans the promises of some actions, or goes on with their plan; returns a sheet for each question. */
export async function planSheets(
  { table, questions }: LabelledAnswers,
  { labels, ...command }: Omit<LabelCommand, "labels"> & { readonly labels: LabelFile },
): Promise<LabelSheet[]> {
  const { forPromise = [], require: maxRisk, confidence, seed, exactlyThese, labeler } = command;
  for (const { question } of forPromise) checkName("question", question, questions.keys());
  const joinLabels = () => {
    const join = new LabelJoin(table, { last: true });
    for (const record of labels.drawn) join.add(record, labels.path);
    return join;
  };
  const toColumn = (question: string) => table.largest(question);
  const wantedPlan = { forPromise, maxRisk, confidence, seed, exactlyThese, columnOf: toColumn };
  const { plan, promises } = await openPlan(labels.path, wantedPlan, joinLabels());
  const file = toPlanPath(labels.path);
  return [...Map.groupBy(promises, ({ question }) => question)].map(([id, own]) => {
    const question = questions.get(id) as Question;
    const replay = () => replayPlan(plan, joinLabels(), { file, isWanted: isOneOf(own) });
    return promiseSheet({ id, question, labels, labeler, replay });
  });
}

interface PromiseSheetOptions extends Pick<LabelSheet, "id" | "question"> {
  readonly labels: LabelFile;
  readonly labeler: string;
  /** Returns the promises about the question after all labels. */
  readonly replay: () => readonly PlannedPromise[];
}

/** Returns a question whose records are drawn one by one, until its labels promise the actions. */
function promiseSheet(options: PromiseSheetOptions): LabelSheet {
  const { id, question, labels, labeler, replay } = options;
  const promises = replay();
  const own = labels.drawn
    .map(({ value }) => value)
    .filter((label) => label.labeler === labeler && label.question === id);
  return {
    id,
    question,
    records: [...own, ...drawNext(promises)],
    next: () => promiseSheet(options),
    lines: promises.map((one) => {
      const name = promises.length === 1 ? "" : `${one.question}=${one.action}: `;
      return name + describe(one);
    }),
    limits: listLimits(promises),
  };
}

/** Draws for the action without a promise that has the fewest labels. */
function drawNext(promises: readonly PlannedPromise[]) {
  for (const promise of promises.toSorted(
    (one, other) => computePlace(one) - computePlace(other),
  )) {
    const next = promise.next();
    if (next !== null) return [next];
  }
  return [];
}

function listLimits(promises: readonly PlannedPromise[]): string[] {
  const copies = Math.max(...promises.map(({ draw }) => draw.copies));
  return [
    ...(copies > 0
      ? [
          `${printCounted(copies, "record")} have the state of another: each state is labelled once, for all of them.`,
        ]
      : []),
    ...limitsOfRecords(promises),
  ];
}

function limitsOfRecords(promises: readonly PlannedPromise[]): string[] {
  if (promises.some(({ plan }) => plan.of === "these")) {
    return [
      "A promise about exactly these records takes 65 to 90 labels if the answers are good, and permits no act on others.",
    ];
  }
  const regions = promises.map(({ action, plan, draw }) => {
    const states = draw.regionSize - draw.copies;
    const name = draw.copies > 0 ? "different record" : "record";
    return { action, number: printCounted(states, name), isSmall: states < 5 / plan.maxRisk };
  });
  return [
    ...regions
      .filter(({ isSmall }) => isSmall)
      .map(({ action, number }) => {
        return `Only ${number} may be acted on with "${action}", too few for a promise: ask about more records first.`;
      }),
    "A promise takes 75 to 250 records that may be acted on: about 200,000 if 1 in 1,000 is a yes.",
    "The promise holds for records like these.",
  ];
}

// An action with a promise comes last: more labels only lower its threshold.
function computePlace({ draw: { state } }: PlannedPromise): number {
  return state.labelled + (state.promised === null ? 0 : Number.MAX_SAFE_INTEGER / 2);
}

function describe({ action, plan, draw }: PlannedPromise): string {
  const {
    labelled: labelledCount,
    wrong,
    promised: promisedThreshold,
    withdrawn,
    more,
  } = draw.state;
  if (promisedThreshold === null && withdrawn !== null) {
    const { threshold, since } = withdrawn;
    const counts = `${printCount(withdrawn.wrong)} of ${printCounted(withdrawn.n, "label")} wrong`;
    return `the promise at ${printThreshold(threshold)} is withdrawn since label ${printCount(since)}; ${counts}`;
  }
  if (promisedThreshold === null) {
    const right = `${printCount(labelledCount - wrong)} right of ${printCount(labelledCount)}`;
    if (more !== null) return `${right}; about ${printCount(more)} more`;
    const isEnd = labelledCount >= draw.regionSize - draw.copies;
    return `${right}; ${isEnd ? "all are labelled, and none is promised" : "no promise in sight yet"}`;
  }
  const act = action === "top" ? "the most probable option" : `"${action}"`;
  const risk = `${describePromisedRisk(plan.maxRisk, promisedThreshold)} wrong, with ${printAtLeast(plan.confidence)} confidence`;
  const wrongText = `${printCount(promisedThreshold.wrong)} wrong of ${printCounted(promisedThreshold.n, "label")}`;
  return `act on ${act} at ${printThreshold(promisedThreshold.threshold)} and above: ${risk}; ${wrongText}. More labels may lower the threshold.`;
}

const defaults = { maxRisk: 0.05, confidence: 0.95, seed: 20_260_101 };

/** The wanted promises; an undefined number is that of an existing plan, or the default. */
interface WantedPlan extends Record<keyof typeof defaults, number | undefined> {
  readonly forPromise: readonly Pick<PlannedPromise, "question" | "action">[];
  /** Promises acts on exactly the answered records. */
  readonly exactlyThese?: boolean | undefined;
  /** Returns the answers to a question. */
  readonly columnOf: (question: string) => AnswerColumn | undefined;
}

/** Returns the path of the plan beside a file of labels: `NAME.promise.json` beside `NAME.labels.ndjson`. */
export function toPlanPath(labelsPath: string): string {
  return `${labelsPath.replace(/(?:\.labels)?\.\w+$/, "")}.promise.json`;
}

/** Reads a plan. @throws CliError with its name and the problem. */
export async function readPlan(path: string): Promise<PromisePlan> {
  const advice = "Put the plan of the labels there.";
  return await readParsedFile(path, { parse: parsePromisePlan, advice });
}

/**
 * Returns the wanted promises after the labels so far, by the plan beside their file, which is written if it
 * is missing.
 *
 * @throws CliError if the file has another plan: a second one for an action would be a second try.
 * @throws CalibrationInputError if the plan was made for other answers, or a label is of another plan.
 */
export async function openPlan(labelsPath: string, wantedPlan: WantedPlan, join: LabelJoin) {
  const path = toPlanPath(labelsPath);
  const isNew = !existsSync(path);
  const plan = isNew ? newPlan(wantedPlan) : await readPlan(path);
  checkPlan(path, plan, wantedPlan);
  const promises = replayPlan(plan, join, { file: path, isWanted: isOneOf(wantedPlan.forPromise) });
  if (!isNew) return { plan, promises };
  const empty = promises.find(({ draw }) => draw.regionSize === 0);
  if (empty !== undefined) {
    const problem = printable`No record may be acted on with ${empty.question}=${empty.action}`;
    const why =
      plan.of === "these"
        ? "too few printed values are sure"
        : `at each threshold the printed values have more than ${printAtMost(plan.maxRisk)} wrong`;
    throw new CliError(`${problem}: ${why}. Ask about more records, or use a higher --require.`);
  }
  await writeWholeFile(path, `${JSON.stringify(plan, null, 2)}\n`);
  return { plan, promises };
}

/** Returns a function that finds actions among others. */
export function isOneOf(actions: WantedPlan["forPromise"]) {
  return ({ question, action }: WantedPlan["forPromise"][number]) =>
    actions.some((one) => one.question === question && one.action === action);
}

function newPlan({
  forPromise,
  columnOf,
  maxRisk,
  confidence,
  seed,
  exactlyThese = false,
}: WantedPlan): PromisePlan {
  const unique = new Map(forPromise.map((one) => [`${one.question}=${one.action}`, one]));
  return {
    version: 2,
    actions: Array.from(unique, ([name, { question, action }]) => {
      const column = columnOf(question);
      const knownActions = column === undefined ? [] : actionsOf[column.form];
      if (column && knownActions.includes(action)) {
        return { question, action, pool: promisePool(column).hash };
      }
      const words =
        knownActions.map((one) => `${question}=${one}`).join(" or ") || "an answered question";
      throw new UsageError(printable`--for-promise ${name} fits no answer; use ${words}.`);
    }),
    maxRisk: maxRisk ?? defaults.maxRisk,
    confidence: confidence ?? defaults.confidence,
    seed: seed ?? defaults.seed,
    ...(exactlyThese && { of: "these" as const }),
  };
}

function checkPlan(path: string, plan: PromisePlan, wantedPlan: WantedPlan): void {
  const isSame = (["maxRisk", "confidence", "seed"] as const).every((name) => {
    return wantedPlan[name] === undefined || wantedPlan[name] === plan[name];
  });
  const isOther = wantedPlan.exactlyThese === true && plan.of !== "these";
  if (isSame && !isOther && wantedPlan.forPromise.every(isOneOf(plan.actions))) return;
  const names = plan.actions.map(({ question, action }) => `${question}=${action}`).join(", ");
  const words = `--require ${plan.maxRisk} --confidence ${plan.confidence} --seed ${plan.seed}${plan.of === "these" ? " --exactly-these" : ""}`;
  const problem = printable`${path} plans ${names} with ${words}; another plan is a second try`;
  throw new CliError(`${problem}. Use these words or another --labels FILE.`);
}
