import { connect } from "node:http2";
import process from "node:process";
import { setDefaultCACertificates } from "node:tls";
import { serveParent } from "evaluator-kit/child";
import { openTarget, questions, type TargetSetUp } from "../targets.ts";
import { gatewayHeaders, mailState } from "../sample-requests.ts";

const BURST = 64;
const STEADY_CALLS = 2000;

/** Every program that is started cold, in the order of the table. */
export const coldTargets = {
  "bare `node:http2`, nothing checked": openBareHttp2,
  "undici `request` over HTTP/1.1, nothing checked": openUndiciOverHttp1,
  "this SDK, gateway": (setUp: TargetSetUp) => openTarget({ ...setUp, target: "sdk-gateway" }),
  "vendor's SDK 0.6.0": (setUp: TargetSetUp) => openTarget({ ...setUp, target: "vendor" }),
  "`ai` 7.0.173": (setUp: TargetSetUp) => openTarget({ ...setUp, target: "ai" }),
} satisfies Record<string, (setUp: TargetSetUp) => Promise<(number: number) => Promise<void>>>;

interface ColdStart extends TargetSetUp {
  readonly target: keyof typeof coldTargets;
  readonly ca: string;
}

const service = {
  /** Loads a library and makes one call. Processor time in milliseconds: after loading, and after the call. */
  async call({ target, ca, ...setUp }: ColdStart) {
    setDefaultCACertificates([ca]);
    const before = process.cpuUsage();
    const call = await coldTargets[target](setUp);
    const importMs = cpuMsSince(before);
    await call(0);
    return { importMs, callMs: cpuMsSince(before) };
  },
  /** Loads a library and makes calls at once, in milliseconds; then many more, in microseconds of processor time. */
  async burst({ target, ca, ...setUp }: ColdStart) {
    setDefaultCACertificates([ca]);
    const startedAt = performance.now();
    const call = await coldTargets[target](setUp);
    await Promise.all(Array.from({ length: BURST }, (_, number) => call(number)));
    const burstMs = performance.now() - startedAt;
    const before = process.cpuUsage();
    let next = BURST;
    const callOn = async () => {
      while (next < BURST + STEADY_CALLS) await call(next++);
    };
    await Promise.all(Array.from({ length: BURST }, callOn));
    return { burstMs, steadyUs: (1000 * cpuMsSince(before)) / STEADY_CALLS };
  },
};

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Opens the reference: one session, and no line more than a call needs. */
async function openBareHttp2({ addresses }: TargetSetUp) {
  const { origin, pathname } = new URL(`${addresses.gateway}/evaluation-model`);
  const session = connect(origin);
  const headers = { ":method": "POST", ":path": pathname, ...gatewayHeaders };
  return async (number: number) => {
    const stream = session.request(headers);
    stream.end(JSON.stringify({ state: mailState(number), questions }));
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    if (!("answers" in JSON.parse(String(Buffer.concat(chunks))))) throw new Error("No answers.");
  };
}

async function openUndiciOverHttp1(setUp: TargetSetUp) {
  const { Agent, setGlobalDispatcher } = await import("undici");
  setGlobalDispatcher(new Agent({ allowH2: false }));
  return openTarget({ ...setUp, target: "undici" });
}

/** The calls that a cold process takes. */
export type ColdService = typeof service;

if (process.send !== undefined) serveParent(service);
