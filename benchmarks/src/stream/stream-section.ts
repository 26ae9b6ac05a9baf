import { loadavg } from "node:os";
import { setTimeout } from "node:timers/promises";
import { startChild, type Child } from "evaluator-kit/child";
import { quantile } from "simple-statistics";
import {
  compareRounds,
  printNumber,
  printSummary,
  type ReportTable,
  rotate,
  summarise,
} from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import {
  type StartedServer,
  startPassThrough,
  startProvider,
  startRouter,
} from "../process/start-servers.ts";
import type { ClientService } from "./client-process.ts";
import type { UpstreamService } from "./upstream-process.ts";

/** Twenty models at a hundred tokens a second: deltas that come one by one. */
const steady = { streams: 20, deltas: 400, deltaLength: 5, everyMs: 10 };
/** A team's agents, with models at ten tokens a second. */
const crowd = { streams: 500, deltas: 50, deltaLength: 5, everyMs: 100 };

interface Bench {
  readonly upstream: Child<UpstreamService>;
  readonly reader: Child<ClientService>;
  readonly prober: Child<ClientService>;
}

/** A server's figures in one round. */
type Figures = Awaited<ReturnType<typeof measureRound>>;

const startClient = () => startChild<ClientService>(new URL("client-process.ts", import.meta.url));

/** Measures streamed replies at the router, and `/healthz` meanwhile, beside a plain pass-through and a provider alone. */
export async function streamSection({ scale, tell }: SectionContext): Promise<ReportTable[]> {
  const upstream = startChild<UpstreamService>(new URL("upstream-process.ts", import.meta.url));
  const bench = { upstream, reader: startClient(), prober: startClient() };
  const gateway = await upstream.ask("listen");
  await using passThrough = await startPassThrough(`${gateway}/language-model`);
  await using provider = await startProvider(gateway);
  await using router = await startRouter(gateway);
  const servers = [
    { title: "a plain hono pass-through", ...passThrough },
    { title: "the provider of `ai` alone, in bare `node:http`", ...provider },
    { title: "`POST /v1/chat/completions` at the router", ...router },
  ];
  const measured = new Map(servers.map(({ title }) => [title, [] as Figures[]]));
  for (let round = -1; round < scale.streamRounds; round += 1) {
    tell(`stream, round ${round + 1} of ${scale.streamRounds}`);
    for (const { title, ...server } of rotate(servers, round + 1)) {
      const figures = await measureRound(bench, server);
      // The first round warms up, and is not counted.
      if (round >= 0) measured.get(title)?.push(figures);
    }
  }
  await Promise.all(Object.values(bench).map((child) => child.close()));
  return [toTable(measured)];
}

async function measureRound({ upstream, reader, prober }: Bench, server: StartedServer) {
  const { origin } = server;
  /** Returns the processor time of replies with so many deltas, in microseconds. */
  const read = async ({ streams, deltaLength, ...plan }: typeof steady, deltas: number) => {
    await upstream.ask("reply", { ...plan, deltas, deltaLength });
    const before = await server.cpuUs();
    await reader.ask("readAll", { origin, streams, characters: deltas * deltaLength });
    return (await server.cpuUs()) - before;
  };
  const opening = await read({ ...crowd, everyMs: 0 }, 1);
  const [one, many] = [await read(steady, 1), await read(steady, 1 + steady.deltas)];
  const probed = prober.ask("probe", origin);
  const replies = read(crowd, crowd.deltas);
  await setTimeout((crowd.deltas * crowd.everyMs) / 2);
  const grownBytes = await server.grownBytes();
  await replies;
  await prober.ask("stopProbing");
  return {
    "CPU µs per call": opening / crowd.streams,
    "CPU µs per delta": (many - one) / (steady.streams * steady.deltas),
    "MB per stream": grownBytes / crowd.streams / 1e6,
    "`/healthz` p99 ms": quantile(await probed, 0.99),
  };
}

/** Each figure with its ratio to the first server's, round by round. */
function toTable(measured: ReadonlyMap<string, readonly Figures[]>): ReportTable {
  const [reference = []] = measured.values();
  const columns = Object.keys(reference[0] ?? {}) as (keyof Figures)[];
  const cell = (rounds: readonly Figures[], column: keyof Figures) => {
    const [values, others] = [rounds, reference].map((all) => all.map((each) => each[column]));
    const { median } = compareRounds(values ?? [], others ?? []);
    return `${printSummary(summarise(values ?? []))} ${printNumber(median)}×`;
  };
  return {
    title: `${crowd.streams} streamed replies at once`,
    columns: ["", ...columns],
    rows: [...measured].map(([title, rounds]) =>
      [title].concat(columns.map((each) => cell(rounds, each))),
    ),
    note: `A call has one delta. A delta's time is that of ${steady.streams} replies of ${1 + steady.deltas} less replies of one. The memory is the growth since the start, after a collection of garbage. The load is ${printNumber(loadavg()[0] ?? Number.NaN)}.`,
  };
}
