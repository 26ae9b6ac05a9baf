import { type Child, startChild } from "evaluator-kit/child";
import { compareRounds, printSummary, type ReportTable, rotate, summarise } from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import { type ColdService, coldTargets } from "./cold-process.ts";
import { type DistantService, distance } from "./distant-server.ts";
import { type ReplyService, replyReaders } from "./reply-process.ts";

type Measured = Record<"importMs" | "callMs" | "burstMs" | "steadyUs", number>;

const names = Object.keys(coldTargets) as (keyof typeof coldTargets)[];
const [reference] = names;
const replyNames = Object.keys(replyReaders) as (keyof typeof replyReaders)[];
/** The compiler has seen the code by then. Chosen. */
const WARM_UP_BURSTS = 20;

/** Measures programs that start cold: loading, the first call, and a burst of calls over TLS to a distant server. */
export async function serverlessSection(context: SectionContext): Promise<ReportTable[]> {
  const distant = startChild<DistantService>(new URL("distant-server.ts", import.meta.url));
  const { origin, ca } = await distant.ask("listen");
  const addresses = { gateway: `${origin}/v4/ai`, direct: origin };
  const setUp = { addresses, ca, clientFolder: context.clientFolder };
  const measured = new Map(names.map((name) => [name, [] as Measured[]]));
  for (let round = 0; round < context.scale.rounds; round += 1) {
    context.tell(`serverless, round ${round + 1} of ${context.scale.rounds}`);
    for (const target of rotate(names, round)) {
      const first = await askCold((child) => child.ask("call", { ...setUp, target }));
      const burst = await askCold((child) => child.ask("burst", { ...setUp, target }));
      measured.get(target)?.push({ ...first, ...burst });
    }
  }
  const replies = await measureReplies({ ca, url: `${addresses.gateway}/language-model` }, context);
  await distant.close();
  const { oneWayMs, serviceMs } = distance;
  return [
    {
      title: `Cold start and a burst of 64 calls over TLS, ${oneWayMs} ms away, ${serviceMs} ms of service`,
      columns: ["", "import, CPU ms", "first call, CPU ms", "burst, ms", "burst", "steady CPU"],
      rows: names.map((name) => cellsOf(name, measured)),
      note: "First call and burst include the import. Ratios are against the first row; steady is 2,000 calls, 64 at once.",
    },
    {
      title:
        "A burst of 64 replies of a text model at the same server, over connections that are open",
      columns: ["", "burst, ms", "burst"],
      rows: replies,
    },
  ];
}

/** Measures bursts of replies in two processes, in turns; returns the rows of the table. */
async function measureReplies(
  setUp: { readonly ca: string; readonly url: string },
  { scale, tell }: SectionContext,
): Promise<string[][]> {
  const readers = await Promise.all(
    replyNames.map(async (name) => {
      const child = startChild<ReplyService>(new URL("reply-process.ts", import.meta.url));
      await child.ask("setUp", { ...setUp, name });
      for (let round = 0; round < WARM_UP_BURSTS; round += 1) await child.ask("burst");
      return { name, child, burstsMs: [] as number[] };
    }),
  );
  tell("serverless, replies");
  for (let round = 0; round < scale.rounds; round += 1) {
    for (const { child, burstsMs } of rotate(readers, round)) {
      burstsMs.push(await child.ask("burst"));
    }
  }
  await Promise.all(readers.map(({ child }) => child.close()));
  return readers.map(({ name, burstsMs }) => [
    name,
    printSummary(summarise(burstsMs)),
    printSummary(compareRounds(burstsMs, readers[0]?.burstsMs ?? []), "×"),
  ]);
}

/** Asks a new process, which has loaded nothing yet. */
async function askCold<TResult>(ask: (child: Child<ColdService>) => Promise<TResult>) {
  const child = startChild<ColdService>(new URL("cold-process.ts", import.meta.url));
  return await ask(child).finally(() => child.close());
}

function cellsOf(
  name: keyof typeof coldTargets,
  measured: ReadonlyMap<string, readonly Measured[]>,
): string[] {
  const seriesOf = (name: string | undefined, key: keyof Measured) =>
    measured.get(name ?? "")?.map((each) => each[key]) ?? [];
  const absolute = (key: keyof Measured) => printSummary(summarise(seriesOf(name, key)));
  const ratio = (key: keyof Measured) =>
    printSummary(compareRounds(seriesOf(name, key), seriesOf(reference, key)), "×");
  return [
    name,
    absolute("importMs"),
    absolute("callMs"),
    absolute("burstMs"),
    ratio("burstMs"),
    ratio("steadyUs"),
  ];
}
