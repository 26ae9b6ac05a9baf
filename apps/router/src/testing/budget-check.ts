import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { closeServer, listen } from "evaluator-kit";
import { reservedNano } from "../keys/budget-state.ts";
import { openLedger } from "../keys/key-database.ts";
import { Ledger } from "../keys/ledger.ts";
import { toHash } from "../keys/router-key.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

// Starts routers as processes: two share one dollar for a hundred calls at once, and others are killed beside one that
// goes on. First with messages, then with clients' own questions, or only with the named ones.
const [kills = "200", lease = "400", only] = process.argv.slice(2);
const leaseMs = Number(lease);
const folder = await mkdtemp(join(tmpdir(), "budget-"));
const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const price = { input: 1, output: 10 };
const decisionPrice = { input: 50 };
const key = { budget: "team", usdPerDay: 1, usdPerMonth: null };
/** More than all calls cost whose router is killed. */
const wideKey = { ...key, usdPerDay: 1000 };

const seen = { paidUsd: 0, hanging: 0, answered: 0 };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

const messageUsd = (tokens: number) => (10 * price.input + tokens * price.output) / 1e6;

/** Writes as many tokens as are allowed. A model named `hang` begins and never ends. */
async function reply(body: { model: string; max_tokens: number }, response: ServerResponse) {
  response.setHeader("content-type", "text/event-stream");
  const delta = { role: "assistant", content: "Hello. ".repeat(20) };
  response.write(event({ id: "1", choices: [{ index: 0, delta }] }));
  if (body.model === "hang") {
    seen.hanging += 1;
    return;
  }
  await setTimeout(20 + 200 * Math.random());
  const usage = { prompt_tokens: 10, completion_tokens: body.max_tokens, total_tokens: 0 };
  seen.paidUsd += messageUsd(body.max_tokens);
  response.write(event({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.end(`${event({ id: "1", choices: [], usage })}data: [DONE]\n\n`);
}

/** Answers a question, and bills as many tokens as its request has bytes. A state that is `hang` gets no answer. */
async function answer(sent: string, response: ServerResponse) {
  const { state } = JSON.parse(sent) as { state: unknown };
  if (state === "hang") {
    seen.hanging += 1;
    return;
  }
  await setTimeout(20 + 200 * Math.random());
  const tokens = Buffer.byteLength(sent);
  seen.paidUsd += (tokens * decisionPrice.input) / 1e6;
  const usage = { input_tokens: tokens, output_tokens: 1 };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ answers: { scam: { type: "noul", noul: 0.5 } }, usage }));
}

const upstream = createServer((request, response) => {
  const isQuestion = request.url === "/v1/systemone";
  void text(request).then((sent) =>
    isQuestion ? answer(sent, response) : reply(JSON.parse(sent) as never, response),
  );
});
const { origin: baseUrl } = await listen(upstream, { port: 0 });

const target = (model: string) => ({ upstream: "models", model, price });
const tiers = {
  nano: target("quick"),
  fast: target("hang"),
  balanced: target("quick"),
  frontier: target("quick"),
};
const decisions = [{ service: "typesafe", baseUrl, price: decisionPrice }];
const upstreams = { models: { type: "openai-chat", baseUrl: `${baseUrl}/v1` } };
await writeFile(
  join(folder, "router.config.json"),
  JSON.stringify({ upstreams, tiers, decisions }),
);

async function writeKeys(name: string, limits: typeof key): Promise<string> {
  const stored = { name: "alice", ...limits, sha256: toHash("rk_alice") };
  await writeFile(join(folder, name), JSON.stringify([stored]));
  return name;
}

/** A kind of call: one that is answered, and one that is never answered to its end. */
interface CallKind {
  readonly name: string;
  readonly path: string;
  readonly quick: object;
  readonly hanging: object;
  /** What the ledger has at least if a router was killed, by the calls that were answered to their end. */
  readonly leastUsd: (answered: number) => number;
}

const message = (model: string, maxTokens: number) => {
  const messages = [{ role: "user", content: "Say hello." }];
  return { model, messages, max_tokens: maxTokens };
};
const question = (state: string) => {
  return { state, questions: { scam: { type: "noul", instructions: "Is it a scam?" } } };
};
const kinds: readonly CallKind[] = [
  {
    name: "messages",
    path: "/v1/chat/completions",
    quick: message("auto", 900),
    hanging: message("fast", 100),
    // Of a message that is cut, only what was known at its last renewal is charged.
    leastUsd: (answered) => answered * messageUsd(900),
  },
  {
    name: "questions",
    path: "/v1/systemone",
    quick: question("Win now! ".repeat(25)),
    hanging: question("hang"),
    leastUsd: () => seen.paidUsd,
  },
];

async function startRouter(keys: string, path: string, routerLeaseMs = leaseMs) {
  const env = { NODE_COMPILE_CACHE: folder, PORT: "0", ROUTER_ACCESS_LOG: "off" };
  const child = spawn(process.execPath, [main], {
    cwd: folder,
    env: { ...env, ROUTER_LEASE_MS: String(routerLeaseMs), ROUTER_KEYS: keys },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [start] = (await once(child.stdout, "data")) as [Buffer];
  const origin = /http:\S+/.exec(start.toString())?.[0] ?? "";
  const ask = async (given: object) => {
    const headers = { "content-type": "application/json", authorization: "Bearer rk_alice" };
    const body = JSON.stringify(given);
    const response = await fetch(`${origin}${path}`, { method: "POST", headers, body });
    await response.text();
    return response.status;
  };
  return { child, ask };
}

/** Asks two routers a hundred times at once, twice. */
async function checkBound({ name, path, quick }: CallKind): Promise<void> {
  const keys = await writeKeys(`${name}-bound.json`, key);
  seen.paidUsd = 0;
  // A busy machine may stop a router for longer than a short lease, which charges the calls in flight in full.
  const start = () => startRouter(keys, path, 60_000);
  const routers = [await start(), await start()];
  const statuses: number[] = [];
  for (let wave = 0; wave < 2; wave += 1) {
    const asked = routers.flatMap(({ ask }) => times(50, () => ask(quick)));
    statuses.push(...(await Promise.all(asked)));
  }
  for (const { child } of routers) child.kill("SIGTERM");
  await Promise.all(routers.map(({ child }) => once(child, "exit")));
  const ledger = new Ledger(() => openLedger(join(folder, keys)), { leaseMs });
  const { dayNano } = await ledger.state(key);
  await ledger.close();
  const count = (status: number) => statuses.filter((each) => each === status).length;
  print(
    `${name}, bound: ${count(200)} answers and ${count(429)} refusals; the models were paid $${seen.paidUsd.toFixed(4)} and the ledger has $${(dayNano / 1e9).toFixed(4)} of $1`,
  );
  assert(seen.paidUsd <= 1.02 && seen.paidUsd >= 0.8, "the bound");
  assert(Math.abs(dayNano / 1e9 - seen.paidUsd) < 1e-4, "the ledger has what was paid");
}

type Router = Awaited<ReturnType<typeof startRouter>>;

/** Kills a router with calls in flight, while another one with the same file answers. */
async function checkKill(ledger: Ledger, { child, ask }: Router, { kind, other }: KillParts) {
  seen.hanging = 0;
  const calls = [
    ...times(5, () => ask(kind.hanging)),
    ...times(5, () => ask(kind.quick)),
    ...times(5, () => other.ask(kind.quick)),
  ].map((call) => call.catch(() => 0));
  while (seen.hanging < 5) await setTimeout(5);
  await setTimeout(Math.random() * leaseMs);
  assert(reservedNano(await ledger.state(wideKey)) > 0, "calls in flight are reserved");
  child.kill("SIGKILL");
  const statuses = await Promise.all(calls);
  await setTimeout(2 * leaseMs);
  const state = await ledger.state(wideKey);
  seen.answered += statuses.filter((status) => status === 200).length;
  const leastNano = Math.floor(kind.leastUsd(seen.answered) * 1e9);
  assert.equal(reservedNano(state), 0, "the budget is free");
  assert(state.dayNano >= leastNano, `the ledger has ${state.dayNano}, and ${leastNano} is due`);
  return statuses.filter((status) => status === 0).length;
}

interface KillParts {
  readonly kind: CallKind;
  readonly other: Router;
}

const times = <TValue>(count: number, make: () => TValue) => Array.from({ length: count }, make);

async function checkKills(kind: CallKind): Promise<void> {
  const keys = await writeKeys(`${kind.name}-kills.json`, wideKey);
  const ledger = new Ledger(() => openLedger(join(folder, keys)), { leaseMs });
  const other = await startRouter(keys, kind.path);
  [seen.paidUsd, seen.answered] = [0, 0];
  let cut = 0;
  for (let each = 0; each < Number(kills); each += 1) {
    cut += await checkKill(ledger, await startRouter(keys, kind.path), { kind, other });
  }
  other.child.kill("SIGTERM");
  await once(other.child, "exit");
  const { dayNano } = await ledger.state(wideKey);
  await ledger.close();
  print(
    `${kind.name}, kills: after each of ${kills} the budget was free within ${2 * leaseMs} ms; ${cut} calls were cut, the models were paid $${seen.paidUsd.toFixed(4)} and $${(dayNano / 1e9).toFixed(4)} were charged`,
  );
  assert(cut > 0 && dayNano > 0, "a call that was killed on its way is charged");
}

try {
  for (const kind of kinds.filter(({ name }) => only === undefined || name === only)) {
    await checkBound(kind);
    await checkKills(kind);
  }
} finally {
  await closeServer(upstream);
  await rm(folder, { recursive: true });
}
