import { loadavg } from "node:os";
import { startChild, type Child } from "evaluator-kit/child";
import { printNumber, printSummary, rotate, type Summary, summarise } from "../figures.ts";
import type { ReportTable, SectionContext } from "../bench-program.ts";
import { type StartedServer, startPassThrough, startRouter } from "../process/start-servers.ts";
import type { ClientService } from "./client-process.ts";
import type { UpstreamService } from "./upstream-process.ts";

/** Twenty models at a hundred tokens a second: deltas that come one by one. */
const steady = { streams: 20, deltas: 400, deltaLength: 5, everyMs: 10 };
/** The highest number of concurrent replies that the router admits; each has 4 MB and no delay. */
const flood = { streams: 64, deltas: 65_536, deltaLength: 64, everyMs: 0 };

const titles = { router: "`POST /chat` at the router", hono: "a plain hono pass-through" } as const;
type Kind = keyof typeof titles;

type Health = Awaited<ReturnType<typeof measureHealth>>;

interface Bench {
  readonly servers: Readonly<Record<Kind, StartedServer>>;
  readonly upstream: Child<UpstreamService>;
  readonly reader: Child<ClientService>;
  readonly prober: Child<ClientService>;
}

const startClient = () => startChild<ClientService>(new URL("client-process.ts", import.meta.url));

/**
 * Measures the cost of a streamed delta, and the latency of `/healthz` while long replies are
 * read.
 */
export async function streamSection({ scale, tell }: SectionContext): Promise<ReportTable[]> {
  const upstream = startChild<UpstreamService>(new URL("upstream-process.ts", import.meta.url));
  const [reader, prober] = [startClient(), startClient()];
  const gateway = await upstream.ask("listen");
  const servers = {
    router: await startRouter(gateway),
    hono: await startPassThrough(gateway),
  };
  const bench = { servers, upstream, reader, prober };
  try {
    tell("stream, deltas one by one");
    const costs = await measureDeltas(bench, scale.streamRounds);
    tell("stream, 64 replies of 4 MB");
    const health = [await measureHealth(bench, "hono"), await measureHealth(bench, "router")];
    return [costTable(costs), healthTable(health)];
  } finally {
    for (const server of Object.values(servers)) await server.stop();
    await Promise.all([upstream, reader, prober].map((child) => child.close()));
  }
}

/** The processor time of each further delta in the server's process, in microseconds. */
async function measureDeltas(
  { servers, upstream, reader }: Bench,
  rounds: number,
): Promise<Record<Kind, Summary>> {
  const { streams, deltas, deltaLength } = steady;
  const measured: Record<Kind, number[]> = { router: [], hono: [] };
  const readReplies = async ({ origin, cpuUs }: StartedServer, length: number) => {
    await upstream.ask("reply", { ...steady, deltas: length });
    const before = await cpuUs();
    await reader.ask("readAll", { origin, streams, characters: length * deltaLength });
    return (await cpuUs()) - before;
  };
  for (let round = -1; round < rounds; round += 1) {
    for (const kind of rotate(["router", "hono"] as const, round + 1)) {
      const one = await readReplies(servers[kind], 1);
      const many = await readReplies(servers[kind], 1 + deltas);
      // The first round warms up, and is not counted.
      if (round >= 0) measured[kind].push((many - one) / (streams * deltas));
    }
  }
  return { router: summarise(measured.router), hono: summarise(measured.hono) };
}

/** Times probes while all replies are read, with how long those took and the load at the end. */
async function measureHealth(bench: Bench, kind: Kind) {
  const { origin } = bench.servers[kind];
  const { streams, deltas, deltaLength } = flood;
  await bench.upstream.ask("reply", flood);
  await bench.prober.ask("startProbing", origin);
  const startedAt = performance.now();
  await bench.reader.ask("readAll", { origin, streams, characters: deltas * deltaLength });
  const seconds = (performance.now() - startedAt) / 1000;
  const tookMs = (await bench.prober.ask("stopProbing")).toSorted((a, b) => a - b);
  const at = (share: number) => tookMs[Math.floor((tookMs.length - 1) * share)] ?? Number.NaN;
  const [load = Number.NaN] = loadavg();
  const figures = { medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  return { kind, asked: tookMs.length, ...figures, seconds, load };
}

function costTable(costs: Record<Kind, Summary>): ReportTable {
  return {
    title: `One streamed delta, ${steady.streams} replies of ${1000 / steady.everyMs} deltas a second`,
    columns: ["", "CPU µs per delta"],
    rows: (["hono", "router"] as const).map((kind) => [titles[kind], printSummary(costs[kind])]),
    note: `Replies of ${1 + steady.deltas} deltas less replies of one, in the server's process.`,
  };
}

function healthTable(health: readonly Health[]): ReportTable {
  return {
    title: `GET /healthz while ${flood.streams} replies of 4 MB are read at full speed`,
    columns: ["", "asked", "median ms", "p99 ms", "max ms", "replies took s", "load"],
    rows: health.map((each) => [
      titles[each.kind],
      String(each.asked),
      ...[each.medianMs, each.p99Ms, each.maxMs, each.seconds, each.load].map(printNumber),
    ]),
  };
}
