import { startChild } from "evaluator-kit/child";
import { printNumber, printSummary, type ReportTable, summarise } from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import { measureRounds, type RoundsByName } from "../calls/contestants.ts";
import { callsPerSecond, cpuUsPerCall, type Round, type RoundOptions } from "../calls/run-round.ts";
import { type StartedServer, startPassThrough, startRouter } from "../process/start-servers.ts";
import { sampleExchanges } from "../sample-requests.ts";
import type { DriverService, RouteKind } from "./driver-process.ts";

/** The routes of messages. */
type MessageKind = "chat" | "chat-before" | "pass-through" | "upstream-by-hand";

/** The title of each kind's row. */
const titles: Readonly<Record<MessageKind, string>> = {
  "pass-through": "a plain hono pass-through, for the reply alone",
  "upstream-by-hand": "the two upstream calls, raw undici",
  "chat-before": "`POST /chat` at the other checkout's router",
  chat: "`POST /chat` at the router",
};

/** Measures the cost of the router beyond its two upstream calls for each message. */
export async function routerSection(context: SectionContext): Promise<ReportTable[]> {
  const { server, tell, scale, otherCheckout } = context;
  await server.answer(sampleExchanges.message);
  const { gateway } = server.addresses;
  await using chat = await startRouter(gateway);
  await using passThrough = await startPassThrough(`${gateway}/language-model`);
  await using before = otherCheckout === null ? null : await startRouter(gateway, otherCheckout);
  const servers = { chat, "pass-through": passThrough, ...(before && { "chat-before": before }) };
  const all = Object.keys(titles) as readonly MessageKind[];
  const kinds = all.filter((kind) => kind !== "chat-before" || before !== null);
  const drivers: Awaited<ReturnType<typeof startDriver>>[] = [];
  for (const kind of kinds) drivers.push(await startDriver(kind, servers, context));
  const tables: ReportTable[] = [];
  for (const concurrency of [1, 32]) {
    tell(`router, ${concurrency} in flight`);
    tables.push(toTable(concurrency, kinds, await measureRounds(drivers, { scale, concurrency })));
  }
  await Promise.all(drivers.map(({ child }) => child.close()));
  return tables;
}

/** Starts a process that asks over a route, through one of the servers if the route has it. */
export async function startDriver(
  kind: RouteKind,
  servers: Readonly<Partial<Record<RouteKind, StartedServer>>>,
  { server }: SectionContext,
) {
  const child = startChild<DriverService>(new URL("driver-process.ts", import.meta.url));
  const { gateway } = server.addresses;
  const through = servers[kind];
  await child.ask("setUp", { kind, origin: through?.origin ?? null, gateway });
  const run = async (options: RoundOptions) => {
    const before = await through?.cpuUs();
    const round = await child.ask("run", options);
    if (through === undefined || before === undefined) return round;
    return { ...round, cpuUs: (await through.cpuUs()) - before };
  };
  return { name: kind, child, run };
}

function toTable(
  concurrency: number,
  kinds: readonly MessageKind[],
  all: RoundsByName,
): ReportTable {
  const over = (kind: MessageKind, figure: (round: Round) => number) =>
    summarise((all.get(kind) ?? []).map(figure));
  const wallMs = ({ wallMs, calls }: Round) => (wallMs * concurrency) / calls;
  /** The cost of the router beyond a route. */
  const added = (kind: MessageKind, figure: (round: Round) => number) =>
    kind.startsWith("chat")
      ? "-"
      : printNumber(over("chat", figure).median - over(kind, figure).median);
  return {
    title: `One message at the router, ${concurrency} in flight`,
    columns: ["", "ms per message", "CPU µs", "messages/s", "router adds ms", "router adds CPU µs"],
    rows: kinds.map((kind) => [
      titles[kind],
      printSummary(over(kind, wallMs)),
      printSummary(over(kind, cpuUsPerCall)),
      printNumber(over(kind, callsPerSecond).median),
      added(kind, wallMs),
      added(kind, cpuUsPerCall),
    ]),
    note: "CPU is of the process that calls upstream: the pass-through's and the router's own in their rows. The canned gateway answers a whole JSON body, though the router asks for a stream.",
  };
}
