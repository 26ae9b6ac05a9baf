import { measureRounds, type Runner, type RoundsByName } from "../calls/contestants.ts";
import { sampleExchanges } from "../sample-requests.ts";
import { type Child, startChild } from "evaluator-kit/child";
import { printNumber, printSummary, summarise } from "../figures.ts";
import type { ReportTable, SectionContext } from "../bench-program.ts";
import type { DriverService, RouteKind } from "./driver-process.ts";
import { type StartedServer, startPassThrough, startRouter } from "../process/start-servers.ts";

const titles: Readonly<Record<RouteKind, string>> = {
  "pass-through": "a plain hono pass-through, for the reply alone",
  "upstream-by-hand": "the two upstream calls, raw undici",
  "upstream-by-libraries": "the two upstream calls, this SDK and `ai`",
  chat: "`POST /chat` at the router",
};
const kinds = Object.keys(titles) as readonly RouteKind[];

interface Driver extends Runner {
  readonly child: Child<DriverService>;
}

/** The cost of one message on one route. */
type RouteFigures = ReturnType<typeof toFigures>;

/** Measures the cost of the router beyond its two upstream calls for each message. */
export async function routerSection(context: SectionContext): Promise<ReportTable[]> {
  const { server, tell, scale } = context;
  await server.answer(sampleExchanges.message);
  const { gateway } = server.addresses;
  const servers: Servers = {
    chat: await startRouter(gateway),
    "pass-through": await startPassThrough(gateway),
  };
  const drivers: Driver[] = [];
  try {
    for (const kind of kinds) drivers.push(await startDriver(kind, servers, context));
    const figures: RouteFigures[] = [];
    for (const concurrency of [1, 32]) {
      tell(`router, ${concurrency} in flight`);
      const rounds = await measureRounds(drivers, { scale, concurrency });
      figures.push(...kinds.map((kind) => toFigures(kind, concurrency, rounds)));
    }
    return [1, 32].map((concurrency) => toTable(concurrency, figures));
  } finally {
    await Promise.all(drivers.map(({ child }) => child.close()));
    for (const each of Object.values(servers)) await each.stop();
  }
}

/** The servers that some routes go through. */
type Servers = Readonly<Partial<Record<RouteKind, StartedServer>>>;

async function startDriver(
  kind: RouteKind,
  servers: Servers,
  { server, clientFolder }: SectionContext,
): Promise<Driver> {
  const file = new URL("driver-process.ts", import.meta.url);
  const child = startChild<DriverService>(file);
  const { gateway } = server.addresses;
  const through = servers[kind];
  await child.ask("setUp", { kind, origin: through?.origin ?? null, gateway, clientFolder });
  if (through === undefined) return { name: kind, child, run: (round) => child.ask("run", round) };
  return {
    name: kind,
    child,
    async run(options) {
      const before = await through.cpuUs();
      const round = await child.ask("run", options);
      return { ...round, cpuUs: (await through.cpuUs()) - before };
    },
  };
}

function toFigures(kind: RouteKind, concurrency: number, all: RoundsByName) {
  const rounds = all.get(kind) ?? [];
  return {
    kind,
    concurrency,
    wallMs: summarise(rounds.map(({ wallMs, calls }) => (wallMs * concurrency) / calls)),
    /** Of the process that makes the upstream calls: the router, the pass-through, or the driver itself. */
    cpuUs: summarise(rounds.map(({ cpuUs, calls }) => cpuUs / calls)),
    messagesPerSecond: summarise(rounds.map(({ wallMs, calls }) => (calls / wallMs) * 1000)),
  };
}

function toTable(concurrency: number, figures: readonly RouteFigures[]): ReportTable {
  const shown = figures.filter((each) => each.concurrency === concurrency);
  const chat = shown.find(({ kind }) => kind === "chat");
  return {
    title: `One message at the router, ${concurrency} in flight`,
    columns: ["", "ms per message", "CPU µs", "messages/s", "router adds ms", "router adds CPU µs"],
    rows: shown.map((each) => [
      titles[each.kind],
      printSummary(each.wallMs),
      printSummary(each.cpuUs),
      printNumber(each.messagesPerSecond.median),
      printAdded("wallMs", each, chat),
      printAdded("cpuUs", each, chat),
    ]),
    note: "CPU is of the process that calls upstream: the pass-through's and the router's own in their rows.",
  };
}

/** The cost of the router beyond a route. */
function printAdded(
  figure: "wallMs" | "cpuUs",
  route: RouteFigures,
  chat: RouteFigures | undefined,
): string {
  if (chat === undefined || route === chat) return "-";
  return printNumber(chat[figure].median - route[figure].median);
}
