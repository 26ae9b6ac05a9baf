import { loadavg } from "node:os";
import { startChild, type Child } from "evaluator-kit/child";
import type { ReportTable, SectionContext } from "../bench-program.ts";
import { printNumber, printSummary, rotate, summarise } from "../figures.ts";
import { type StartedServer, startPassThrough, startRouter } from "../process/start-servers.ts";
import type { ClientService } from "./client-process.ts";
import type { UpstreamService } from "./upstream-process.ts";

/** Twenty models at a hundred tokens a second: deltas that come one by one. */
const steady = { streams: 20, deltas: 400, deltaLength: 5, perBlock: 1, everyMs: 10 };
/**
 * The highest number of concurrent replies that the router admits; each has 2 MB, at 200 KB a second.
 * At full speed each server would have another load: a pass-through then reads for a second, until its
 * sockets are empty, before it answers anything else.
 */
const flood = { streams: 64, deltas: 32_768, deltaLength: 64, perBlock: 64, everyMs: 20 };

interface Bench {
  /** The measured servers, with their titles. */
  readonly servers: readonly (StartedServer & { title: string })[];
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
  await using passThrough = await startPassThrough(gateway);
  await using router = await startRouter(gateway);
  const servers = [
    { title: "a plain hono pass-through", ...passThrough },
    { title: "`POST /chat` at the router", ...router },
  ];
  const bench = { servers, upstream, reader, prober };
  tell("stream, deltas one by one");
  const costs = await measureDeltas(bench, scale.streamRounds);
  tell("stream, 64 replies of 2 MB");
  const health = await measureHealth(bench);
  await Promise.all([upstream, reader, prober].map((child) => child.close()));
  return [costs, health];
}

/** Measures the processor time of each further delta in the server's process, in microseconds. */
async function measureDeltas(
  { servers, upstream, reader }: Bench,
  rounds: number,
): Promise<ReportTable> {
  const { streams, deltas, deltaLength } = steady;
  const measured = new Map<string, number[]>(servers.map(({ title }) => [title, []]));
  const readReplies = async ({ origin, cpuUs }: StartedServer, length: number) => {
    await upstream.ask("reply", { ...steady, deltas: length });
    const before = await cpuUs();
    await reader.ask("readAll", { origin, streams, characters: length * deltaLength });
    return (await cpuUs()) - before;
  };
  for (let round = -1; round < rounds; round += 1) {
    for (const server of rotate(servers, round + 1)) {
      const one = await readReplies(server, 1);
      const many = await readReplies(server, 1 + deltas);
      // The first round warms up, and is not counted.
      if (round >= 0) measured.get(server.title)?.push((many - one) / (streams * deltas));
    }
  }
  return {
    title: `One streamed delta, ${streams} replies of ${1000 / steady.everyMs} deltas a second`,
    columns: ["", "CPU µs per delta"],
    rows: [...measured].map(([title, values]) => [title, printSummary(summarise(values))]),
    note: `Replies of ${1 + deltas} deltas less replies of one, in the server's process.`,
  };
}

/** Times probes while all replies are read, with how long those took and the load at the end. */
async function measureHealth({ servers, upstream, reader, prober }: Bench): Promise<ReportTable> {
  const { streams, deltas, deltaLength } = flood;
  await upstream.ask("reply", flood);
  const rows: string[][] = [];
  for (const { title, origin } of servers) {
    const probed = prober.ask("probe", origin);
    const startedAt = performance.now();
    await reader.ask("readAll", { origin, streams, characters: deltas * deltaLength });
    const seconds = (performance.now() - startedAt) / 1000;
    await prober.ask("stopProbing");
    const tookMs = (await probed).toSorted((a, b) => a - b);
    const at = (share: number) => tookMs[Math.floor((tookMs.length - 1) * share)] ?? Number.NaN;
    const figures = [at(0.5), at(0.99), at(1), seconds, loadavg()[0] ?? Number.NaN];
    rows.push([title, String(tookMs.length), ...figures.map(printNumber)]);
  }
  return {
    title: `GET /healthz while ${streams} replies of 2 MB are read, 200 KB a second each`,
    columns: ["", "asked", "median ms", "p99 ms", "max ms", "replies took s", "load"],
    rows,
  };
}
