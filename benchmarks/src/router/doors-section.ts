import {
  compareRounds,
  printNumber,
  printSummary,
  type ReportTable,
  summarise,
} from "../figures.ts";
import type { SectionContext } from "../section-context.ts";
import { measureRounds } from "../calls/contestants.ts";
import { callsPerSecond, cpuUsPerCall } from "../calls/run-round.ts";
import { startPassThrough, startRouter } from "../process/start-servers.ts";
import { sampleExchanges } from "../sample-requests.ts";
import { startDriver } from "./router-section.ts";

/** The title of each kind's row; the first one is the reference. */
const titles = {
  unread: "a plain hono pass-through, which parses nothing",
  systemone: "`POST /v1/systemone` at the router",
  decisions: "`POST /v1/decisions` at the router",
  "evaluation-model": "`POST /v4/ai/evaluation-model` at the router",
} as const;
const kinds = Object.keys(titles) as readonly (keyof typeof titles)[];

/** Measures the processor time of clients' own questions at the router, beside a pass-through. */
export async function doorsSection(context: SectionContext): Promise<ReportTable[]> {
  const { server, tell, scale } = context;
  await server.answer(sampleExchanges.message);
  const { gateway } = server.addresses;
  await using router = await startRouter(gateway);
  await using unread = await startPassThrough(`${gateway}/evaluation-model`);
  const servers = { unread, systemone: router, decisions: router, "evaluation-model": router };
  const drivers: Awaited<ReturnType<typeof startDriver>>[] = [];
  for (const kind of kinds) drivers.push(await startDriver(kind, servers, context));
  tell("doors, 32 in flight");
  const all = await measureRounds(drivers, { scale, concurrency: 32 });
  await Promise.all(drivers.map(({ child }) => child.close()));
  const cpu = (kind: keyof typeof titles) => (all.get(kind) ?? []).map(cpuUsPerCall);
  return [
    {
      title: "Clients' own questions at the router, 32 in flight",
      columns: ["", "CPU µs", "against the pass-through", "calls/s"],
      rows: kinds.map((kind) => [
        titles[kind],
        printSummary(summarise(cpu(kind))),
        printSummary(compareRounds(cpu(kind), cpu("unread")), "×"),
        printNumber(summarise((all.get(kind) ?? []).map(callsPerSecond)).median),
      ]),
    },
  ];
}
