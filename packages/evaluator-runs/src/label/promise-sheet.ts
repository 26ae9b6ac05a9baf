import {
  type AnswerTable,
  LabelJoin,
  type PlannedPromise,
  type PromisePlan,
  replayPlan,
} from "evaluator-calibration";
import type { Question } from "evaluator-client";
import { printCount, printCounted } from "../amounts.ts";
import type { LabelCommand } from "../label-options.ts";
import type { LabelFile } from "./label-file.ts";
import { columnOf, type LabelledAnswers, type LabelSheet } from "./label-sheet.ts";
import { openPlan, type PooledAction, withPools } from "./plan-file.ts";

interface PromiseSheetOptions {
  readonly id: string;
  readonly question: Question;
  readonly plan: PromisePlan;
  /** The planned actions on the question. */
  readonly actions: readonly PooledAction[];
  readonly table: AnswerTable;
  readonly labels: LabelFile;
  readonly labeler: string;
}

/** Plans the promises of some actions, or goes on with their plan; returns a sheet for each question. */
export async function planSheets(
  { table, questions }: LabelledAnswers,
  { labels, ...command }: Omit<LabelCommand, "labels"> & { readonly labels: LabelFile },
): Promise<PromiseSheet[]> {
  const { forPromise = [], require: maxRisk, confidence, seed, labeler } = command;
  const actions = withPools(forPromise, (question) => columnOf(table, question));
  const plan = await openPlan(labels.path, { actions, maxRisk, confidence, seed });
  return [...Map.groupBy(actions, ({ question }) => question)].map(([id, own]) => {
    const question = questions.get(id) as Question;
    return new PromiseSheet({ id, question, plan, actions: own, table, labels, labeler });
  });
}

type Next = NonNullable<ReturnType<PlannedPromise["next"]>>;

/** One question whose records are drawn one by one, until its labels promise the actions. */
export class PromiseSheet implements LabelSheet {
  readonly id: string;
  readonly question: Question;
  readonly #options: PromiseSheetOptions;
  #promises: readonly PlannedPromise[] = [];
  /** The drawn records that this person has labelled, and the next one. */
  #records: readonly Pick<Next, "id" | "draw">[] = [];

  /** @throws CalibrationInputError that names an invalid label. */
  constructor(options: PromiseSheetOptions) {
    this.id = options.id;
    this.question = options.question;
    this.#options = options;
    this.refresh();
  }

  get ids(): readonly string[] {
    return this.#records.map(({ id }) => id);
  }

  /** Replays all labels, and draws the next record. */
  refresh(): void {
    const { id: question, plan, actions, table, labels, labeler } = this.#options;
    const records = labels.drawnFor(question);
    const join = new LabelJoin(table, { last: true });
    for (const record of records) join.add(record, labels.path);
    this.#promises = actions.map((action) => {
      const drawn = join.drawn.find(({ column }) => column === action.pool.column);
      return replayPlan({ plan, action, pool: action.pool, labels: drawn });
    });
    const own = records.filter(({ value }) => value.labeler === labeler);
    this.#records = [...own.map(({ value }) => value as typeof value & Next), ...this.#drawNext()];
  }

  /** Draws for the action without a promise that has the fewest labels. */
  #drawNext(): Next[] {
    const waiting = this.#promises.toSorted((one, other) => placeOf(one) - placeOf(other));
    for (const promise of waiting) {
      const next = promise.next();
      if (next !== null) return [next];
    }
    return [];
  }

  /** Returns the field `draw` of a record's label. */
  drawOf(id: string): Next["draw"] | undefined {
    return this.#records.findLast((record) => record.id === id)?.draw;
  }

  /** What the labels promise so far, a line for each action. */
  get lines(): string[] {
    return this.#promises.map((promise) => {
      const name = this.#promises.length === 1 ? "" : `${this.id}=${promise.action}: `;
      return name + describePromise(promise);
    });
  }

  /** The limits of these promises. */
  get limits(): string[] {
    const small = this.#promises.filter(({ plan, draw }) => draw.regionSize < 5 / plan.maxRisk);
    return [
      ...small.map(({ action, draw }) => {
        return `Only ${printCounted(draw.regionSize, "record")} may be acted on with "${action}", too few for a promise even if all are right: ask about more records first.`;
      }),
      "A promise takes 100 to 250 records that may be acted on; if 1 in 1,000 is a yes, that is about 200,000 records.",
      "The promise holds for records like these.",
    ];
  }
}

// An action with a promise comes last: more labels only lower its threshold.
function placeOf({ draw: { state } }: PlannedPromise): number {
  return state.labelled + (state.promised === null ? 0 : Number.MAX_SAFE_INTEGER / 2);
}

function describePromise({ action, plan, draw }: PlannedPromise): string {
  const { labelled, wrong, promised, more } = draw.state;
  if (promised === null) {
    const right = `${printCount(labelled - wrong)} right of ${printCount(labelled)}`;
    return `${right}; ${more === null ? "no promise is in sight yet" : `about ${printCount(more)} more`}`;
  }
  const act = action === "top" ? "the most probable answer" : `"${action}"`;
  const risk = `at most ${percent(plan.maxRisk)} wrong, with ${percent(plan.confidence)} confidence`;
  const seen = `${printCount(promised.wrong)} wrong of ${printCounted(promised.n, "label")}`;
  return `act on ${act} at ${promised.threshold.toFixed(2)} and above: ${risk}; ${seen}. More labels may lower the threshold further.`;
}

function percent(share: number): string {
  return `${Number((100 * share).toFixed(4))} %`;
}
