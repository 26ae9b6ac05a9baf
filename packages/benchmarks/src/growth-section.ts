import {
  type Contestant,
  startContestants,
  measureRounds,
  type RoundsByName,
  type Runner,
} from "./calls/contestants.ts";
import { references, type TargetName } from "./targets/targets.ts";
import { choiceQuestions, type QuestionShape } from "./sample-requests.ts";
import { printNumber, printSummary, compareRounds, type Summary, summarise } from "./figures.ts";
import type { ReportTable, SectionResult, SectionContext } from "./section.ts";

const CONCURRENCY = 8;
const series = {
  questions: [1, 10, 100].map((questions) => ({ questions, options: 4 })),
  options: [2, 20, 255].map((options) => ({ questions: 1, options })),
} satisfies Record<keyof QuestionShape, QuestionShape[]>;

const targets = [references.raw, references.sdk] as const;

/** What one size costs, raw and with this SDK. */
interface SizeFigures {
  readonly shape: QuestionShape;
  readonly rawCpuUs: Summary;
  readonly sdkCpuUs: Summary;
  readonly cpuRatio: Summary;
}

/** Two targets that ask questions of one size. */
interface SizeContest {
  readonly shape: QuestionShape;
  readonly contestants: readonly Contestant[];
}

/** Measures what a call costs as its questions and their options grow in number. */
export async function growthSection(context: SectionContext): Promise<SectionResult> {
  const data: Record<string, SizeFigures[]> = {};
  for (const grown of ["questions", "options"] as const) {
    context.tell(`growth, ${grown}`);
    data[grown] = await measureSeries(series[grown], context);
  }
  const { questions = [], options = [] } = data;
  return { tables: [toTable("questions", questions), toTable("options", options)], data };
}

async function measureSeries(
  shapes: readonly QuestionShape[],
  context: SectionContext,
): Promise<SizeFigures[]> {
  const contests: SizeContest[] = [];
  try {
    for (const shape of shapes) contests.push(await startContest(shape, context));
    const runners = contests.flatMap((contest) => runnersOf(contest, context));
    const rounds = await measureRounds(runners, { ...context, concurrency: CONCURRENCY });
    return shapes.map((shape) => toFigures(shape, rounds));
  } finally {
    const contestants = contests.flatMap((contest) => contest.contestants);
    await Promise.all(contestants.map(({ process }) => process.close()));
  }
}

async function startContest(shape: QuestionShape, context: SectionContext): Promise<SizeContest> {
  const scope = { ...context, targets, otherClientFolder: null, profileFolder: null };
  const contestants = await startContestants(scope, { questions: choiceQuestions(shape) });
  return { shape, contestants };
}

/** All sizes take turns, so the server is told before each turn what it answers. */
function runnersOf({ shape, contestants }: SizeContest, { server }: SectionContext): Runner[] {
  const questions = choiceQuestions(shape);
  return contestants.map(({ name, run }) => ({
    name: nameOf(shape, name),
    async run(options) {
      await server.answer(questions);
      return run(options);
    },
  }));
}

function nameOf({ questions, options }: QuestionShape, target: string): string {
  return `${target}, ${questions} × ${options}`;
}

function toFigures(shape: QuestionShape, rounds: RoundsByName): SizeFigures {
  const cpuOf = (target: TargetName) =>
    (rounds.get(nameOf(shape, target)) ?? []).map(({ cpuUs, calls }) => cpuUs / calls);
  const [raw, sdk] = [cpuOf(references.raw), cpuOf(references.sdk)];
  const cpuRatio = compareRounds(sdk, raw);
  return { shape, rawCpuUs: summarise(raw), sdkCpuUs: summarise(sdk), cpuRatio };
}

function toTable(grown: keyof QuestionShape, figures: readonly SizeFigures[]): ReportTable {
  return {
    title: `Growth with ${grown}, ${CONCURRENCY} in flight`,
    columns: [
      "questions × options",
      "CPU against undici",
      "undici µs",
      "this SDK µs",
      `undici µs per further ${grown.slice(0, -1)}`,
      `this SDK µs per further ${grown.slice(0, -1)}`,
    ],
    rows: figures.map(({ shape, rawCpuUs, sdkCpuUs, cpuRatio }, index) => [
      `${shape.questions} × ${shape.options}`,
      printSummary(cpuRatio, "×"),
      printSummary(rawCpuUs),
      printSummary(sdkCpuUs),
      ...(["rawCpuUs", "sdkCpuUs"] as const).map((who) =>
        printStep(figures[index - 1], figures[index], { grown, who }),
      ),
    ]),
    note: "A cost that grows no faster than the size costs no more for each further one.",
  };
}

/** What each further question or option costs between two sizes. */
function printStep(
  smaller: SizeFigures | undefined,
  larger: SizeFigures | undefined,
  { grown, who }: { grown: keyof QuestionShape; who: "rawCpuUs" | "sdkCpuUs" },
): string {
  if (smaller === undefined || larger === undefined) return "-";
  const more = larger.shape[grown] - smaller.shape[grown];
  return printNumber((larger[who].median - smaller[who].median) / more);
}
