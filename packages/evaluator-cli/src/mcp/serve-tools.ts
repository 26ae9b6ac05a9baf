import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { type Catalog, createCatalog, type Evaluator } from "evaluator-client";
import { budget, type Budget } from "evaluator-client/budget";
import { cache } from "evaluator-client/cache";
import { type CliContext, type Environment, packageVersion, UsageError } from "evaluator-kit";
import { type askCommands, limit } from "../commands/ask-commands.ts";
import { type OptionsOf, readSetting } from "../commands/shared-options.ts";
import { type Engine, evaluatorOf, readEngine } from "../engines/engine.ts";
import { serveMcp } from "./mcp-http.ts";
import { createMcpServer, type ToolContext } from "./mcp-tools.ts";

type McpOptions = OptionsOf<typeof askCommands.mcp>;

/** Serves the tools of the Model Context Protocol until its input or the program ends. */
export async function serveTools(options: McpOptions, context: CliContext): Promise<void> {
  const { env } = context;
  const engine = readEngine(options.engine, env);
  const limits = readLimits(options, env, engine);
  await using own = evaluatorOf(engine, env);
  await using catalog = catalogOf(engine, env);
  const tools = toToolContext(own, { engine, catalog, ...limits });
  const create = () => createMcpServer(tools);
  if (options.http === undefined) await serveStdio(create, context);
  else await serveHttp(create, options.http, context);
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
  // The cache comes first: a cached answer costs nothing.
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

function readLimits(options: McpOptions, env: Environment, engine: Engine): Limits {
  const read = (name: string) => readSetting(name, env[name], limit);
  const maxCostUsd = options.maxCost ?? read("EVALUATOR_MAX_COST_USD");
  const maxTokens = options.maxTokens ?? read("EVALUATOR_MAX_TOKENS");
  const hours = options.hours ?? read("EVALUATOR_BUDGET_HOURS");
  const price = options.price ?? read("EVALUATOR_USD_PER_MILLION_TOKENS") ?? null;
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

/** Returns the engine's catalog, at the address of its model; null if it has none. */
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
  // A copy of the pipe would read on, and keep the process alive after a signal.
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
