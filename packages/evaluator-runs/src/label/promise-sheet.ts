import { LabelJoin, type PlannedPromise, replayPlan } from "evaluator-calibration/reports";
import type { Question } from "evaluator-client";
import { printShare } from "evaluator-kit";
import { printCount, printCounted } from "../amounts.ts";
import type { LabelCommand } from "../label-options.ts";
import type { LabelFile } from "./label-file.ts";
import { type LabelledAnswers, type LabelSheet } from "./label-sheet.ts";
import { isOneOf, openPlan, toPlanPath } from "./plan-file.ts";

/** Plans the promises of some actions, or goes on with their plan; returns a sheet for each question. */
export async function planSheets(
  { table, questions }: LabelledAnswers,
  { labels, ...command }: Omit<LabelCommand, "labels"> & { readonly labels: LabelFile },
): Promise<LabelSheet[]> {
  const { forPromise = [], require: maxRisk, confidence, seed, labeler } = command;
  const joinLabels = () => {
    const join = new LabelJoin(table, { last: true });
    for (const record of labels.drawn) join.add(record, labels.path);
    return join;
  };
  const columnOf = (question: string) => table.largest(question);
  const wanted = { forPromise, maxRisk, confidence, seed, columnOf };
  const { plan, promises } = await openPlan(labels.path, wanted, joinLabels());
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
    limits: limitsOf(promises),
  };
}

/** Draws for the action without a promise that has the fewest labels. */
function drawNext(promises: readonly PlannedPromise[]) {
  for (const promise of promises.toSorted((one, other) => placeOf(one) - placeOf(other))) {
    const next = promise.next();
    if (next !== null) return [next];
  }
  return [];
}

function limitsOf(promises: readonly PlannedPromise[]): string[] {
  const small = promises.filter(({ plan, draw }) => draw.regionSize < 5 / plan.maxRisk);
  return [
    ...small.map(({ action, draw }) => {
      return `Only ${printCounted(draw.regionSize, "record")} may be acted on with "${action}", too few for a promise even if all are right: ask about more records first.`;
    }),
    "A promise takes 100 to 250 records that may be acted on; if 1 in 1,000 is a yes, that is about 200,000 records.",
    "The promise holds for records like these.",
  ];
}

// An action with a promise comes last: more labels only lower its threshold.
function placeOf({ draw: { state } }: PlannedPromise): number {
  return state.labelled + (state.promised === null ? 0 : Number.MAX_SAFE_INTEGER / 2);
}

function describe({ action, plan, draw }: PlannedPromise): string {
  const { labelled, wrong, promised, more } = draw.state;
  if (promised === null) {
    const right = `${printCount(labelled - wrong)} right of ${printCount(labelled)}`;
    return `${right}; ${more === null ? "no promise is in sight yet" : `about ${printCount(more)} more`}`;
  }
  const act = action === "top" ? "the most probable option" : `"${action}"`;
  const risk = `at most ${printShare(plan.maxRisk)} wrong, with ${printShare(plan.confidence)} confidence`;
  const seen = `${printCount(promised.wrong)} wrong of ${printCounted(promised.n, "label")}`;
  return `act on ${act} at ${promised.threshold.toFixed(2)} and above: ${risk}; ${seen}. More labels may lower the threshold further.`;
}
