import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { type Catalog, createCatalog, type Evaluator } from "evaluator-client";
import { budget, type Budget } from "evaluator-client/budget";
import { cache } from "evaluator-client/cache";
import {
  type CliContext,
  type Environment,
  packageVersion,
  parseWords,
  readDecimal,
  readPositionals,
  readWholeNumber,
  UsageError,
  exitCodes,
} from "evaluator-kit";
import type { Command } from "../command.ts";
import { type Engine, engineUsage, evaluatorOf, readEngine } from "../engines/engine.ts";
import { serveMcp } from "./mcp-http.ts";
import { createMcpServer, type ToolContext } from "./mcp-tools.ts";

const usage = `
Usage: evaluator mcp [--http PORT] [--engine ENGINE] [options]

Serves the tools evaluate, estimate and list_models to an assistant, over MCP: on standard input and
output, or over streamable HTTP on this machine. Identical questions are asked once.

  --http PORT        http://127.0.0.1:PORT/mcp in place of standard input; 0 takes any free port
  --engine ENGINE    who answers [what EVALUATOR_TRANSPORT names, else gateway]
  --max-cost USD     refuses calls that might come to more [EVALUATOR_MAX_COST_USD, else no limit]
  --max-tokens N     the same in tokens [EVALUATOR_MAX_TOKENS, else no limit]
  --hours N          the limits are for so many hours, ending now [EVALUATOR_BUDGET_HOURS, else since
                     it was started]
  --price USD        of a million tokens, where the engine reports none [EVALUATOR_USD_PER_MILLION_TOKENS]

An assistant's settings, with the key in its environment:
  { "mcpServers": { "evaluator": { "command": "npx", "args": ["evaluator-cli", "mcp"],
    "env": { "AI_GATEWAY_API_KEY": "…", "EVALUATOR_MAX_COST_USD": "1" } } } }
${engineUsage}`;

const text = { type: "string" } as const;
const options = {
  http: text,
  engine: text,
  "max-cost": text,
  "max-tokens": text,
  hours: text,
  price: text,
} as const;

/** Serves the tools of the Model Context Protocol. */
export const mcpCommand: Command = {
  examples: [
    "AI_GATEWAY_API_KEY=… evaluator mcp --max-cost 1 --hours 24",
    "evaluator mcp --engine gateway=http://127.0.0.1:8787/v4/ai",
    "evaluator mcp --http 8765",
  ],
  usage: usage.trimStart(),
  run: serve,
};

async function serve(words: readonly string[], context: CliContext): Promise<number> {
  const { values, positionals } = parseWords(words, options);
  readPositionals(positionals, []);
  const { env } = context;
  const engine = readEngine(values.engine, env);
  const port =
    values.http === undefined ? null : readWholeNumber("--http", values.http, { max: 65_535 });
  const limits = readLimits(values, env, engine);
  await using own = evaluatorOf(engine, env);
  await using catalog = catalogOf(engine, env);
  const tools = toToolContext(own, { engine, catalog, ...limits });
  const create = () => createMcpServer(tools);
  if (port === null) await serveStdio(create, context);
  else await serveHttp(create, port, context);
  return exitCodes.done;
}

interface Limits {
  readonly maxCostUsd?: number;
  readonly maxTokens?: number;
  readonly spanMs?: number;
  readonly price: number | null;
}

function toToolContext(
  own: Evaluator,
  { engine, catalog, price, ...limits }: Limits & Pick<ToolContext, "engine" | "catalog">,
): ToolContext {
  const { maxCostUsd, maxTokens } = limits;
  const hasLimit = maxCostUsd !== undefined || maxTokens !== undefined;
  const spent: Budget | null = hasLimit
    ? budget({ ...limits, ...(price !== null && { usdPerMillionTokens: price }) })
    : null;
  // The cache comes first: what it knows costs nothing.
  const evaluator = (spent === null ? own : own.with(spent)).with(cache());
  return {
    version: packageVersion(import.meta.url),
    engine,
    evaluator,
    catalog,
    price,
    budget: spent === null ? null : { ...limits, spent },
  };
}

type Values = { readonly [TName in keyof typeof options]?: string };

function readLimits(values: Values, env: Environment, engine: Engine): Limits {
  const read = (name: keyof Values, variable: string) => {
    const typed = values[name];
    if (typed !== undefined) return readPositive(`--${name}`, typed);
    const set = env[variable];
    return set === undefined ? undefined : readPositive(variable, set);
  };
  const maxCostUsd = read("max-cost", "EVALUATOR_MAX_COST_USD");
  const maxTokens = read("max-tokens", "EVALUATOR_MAX_TOKENS");
  const hours = read("hours", "EVALUATOR_BUDGET_HOURS");
  const price = read("price", "EVALUATOR_USD_PER_MILLION_TOKENS") ?? null;
  if (maxCostUsd !== undefined && price === null && !engine.reportsCost) {
    throw new UsageError(
      `${engine.transport.name} reports no price, so a limit in dollars needs --price USD, or use --max-tokens.`,
    );
  }
  return {
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    ...(maxTokens !== undefined && { maxTokens: Math.floor(maxTokens) }),
    ...(hours !== undefined && { spanMs: hours * 3_600_000 }),
    price,
  };
}

function readPositive(name: string, given: string): number {
  return readDecimal(name, given, { min: 0.000001, what: "a number" });
}

/** The engine's catalog, at the address where its model is asked; null where it has none. */
function catalogOf(
  { transport: { target }, hasCatalog }: Engine,
  env: Environment,
): Catalog | null {
  return hasCatalog && target !== undefined
    ? createCatalog({ env, baseUrl: target.url.slice(0, target.url.lastIndexOf("/")) })
    : null;
}

type Create = () => ReturnType<typeof createMcpServer>;

async function serveStdio(create: Create, { stdin, stdout, signal }: CliContext): Promise<void> {
  // The pipe itself where it is one: a copy would read on, and keep the process after a signal.
  const input = stdin instanceof Readable ? stdin : Readable.from(stdin);
  const output = new Writable({
    write(chunk, _encoding, done) {
      stdout.write(String(chunk));
      done();
    },
  });
  const ended = once(input, "end", { signal }).catch(() => undefined);
  const server = create();
  await server.connect(new StdioServerTransport(input, output));
  await ended;
  await server.close();
}

async function serveHttp(create: Create, port: number, context: CliContext): Promise<void> {
  const { stdout, signal } = context;
  const listener = await serveMcp(create, port);
  stdout.write(`MCP is at ${listener.url}\n`);
  if (!signal.aborted) await once(signal, "abort");
  await listener.close();
}
