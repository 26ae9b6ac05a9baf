import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { budget } from "evaluator-client/budget";
import { cache } from "evaluator-client/cache";
import {
  type CliContext,
  CliError,
  closeServer,
  type Environment,
  isForeignRequest,
  listen,
  packageVersion,
  UsageError,
} from "evaluator-kit";
import { readCalibration } from "evaluator-runs/source";
import { tokenPrice } from "evaluator-runs/commands";
import type { AskOptions } from "../commands/ask-commands.ts";
import { parseLimit, readSetting } from "../commands/shared-options.ts";
import { findCatalog, type Engine, toEvaluator, readEngine } from "../engines/engine.ts";
import { createMcpServer } from "./mcp-tools.ts";

/** Serves the tools of the Model Context Protocol until its input or the program ends. */
export async function serveTools(options: AskOptions<"mcp">, context: CliContext): Promise<void> {
  const { env } = context;
  const engine = readEngine(options.engine, env);
  const { price, ...spendingLimits } = readLimits(options, env, engine);
  const { calibration } = options;
  await using engineEvaluator = toEvaluator(engine, env);
  await using catalog = findCatalog(engine, { env });
  const { maxCostUsd, maxTokens } = spendingLimits;
  const hasLimit = maxCostUsd !== undefined || maxTokens !== undefined;
  const prices = price === null ? {} : { usdPerMillionTokens: price };
  const spentBudget = hasLimit ? budget({ ...spendingLimits, ...prices }) : null;
  const toolContext = {
    version: packageVersion(import.meta.url),
    clock: context.clock,
    engine,
    artifact: calibration === undefined ? null : await readCalibration(calibration, null, context),
    // The cache comes first: a cached answer costs nothing.
    evaluator: (spentBudget === null ? engineEvaluator : engineEvaluator.with(spentBudget)).with(
      cache(),
    ),
    catalog,
    price,
    spent: spentBudget,
    ...spendingLimits,
  };
  const createTools = () => createMcpServer(toolContext);
  if (options.http === undefined) await serveStdio(createTools, context);
  else await serveHttp(createTools, options.http, context);
}

function readLimits(options: AskOptions<"mcp">, env: Environment, engine: Engine) {
  const readLimit = (name: string) => readSetting(name, env[name], parseLimit);
  const maxCostUsd = options.maxCost ?? readLimit("EVALUATOR_MAX_COST_USD");
  const maxTokens = options.maxTokens ?? readLimit("EVALUATOR_MAX_TOKENS");
  const budgetHours = options.hours ?? readLimit("EVALUATOR_BUDGET_HOURS");
  const priceVariable = "EVALUATOR_USD_PER_MILLION_TOKENS";
  const price = options.price ?? readSetting(priceVariable, env[priceVariable], tokenPrice) ?? null;
  if (maxCostUsd !== undefined && price === null && !engine.reportsCost) {
    const { name } = engine.transport;
    throw new UsageError(`${name} reports no price; set --price or --max-tokens.`);
  }
  return {
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    ...(maxTokens !== undefined && { maxTokens: Math.floor(maxTokens) }),
    ...(budgetHours !== undefined && { spanMs: budgetHours * 3_600_000 }),
    price,
  };
}

type Create = () => ReturnType<typeof createMcpServer>;

async function serveStdio(
  createTools: Create,
  { stdin, stdout, signal }: CliContext,
): Promise<void> {
  // A copy of the pipe would read on, and keep the process alive after a signal.
  const inputStream = stdin instanceof Readable ? stdin : Readable.from(stdin);
  const outputStream = new Writable({
    write(chunk, _encoding, doneAction) {
      stdout.write(String(chunk));
      doneAction();
    },
  });
  const endedPromise = once(inputStream, "end", { signal }).catch(() => undefined);
  const server = createTools();
  const closedPromise = new Promise((resolve) =>
    Object.assign(server.server, { onclose: resolve }),
  );
  await server.connect(new StdioServerTransport(inputStream, outputStream));
  const isClosed = await Promise.race([
    closedPromise.then(() => true),
    endedPromise.then(() => false),
  ]);
  if (isClosed) throw new CliError("A message is over 10 MiB.");
  await server.close();
}

/** Serves MCP over streamable HTTP on loopback; each message gets a new server, without sessions. */
async function serveHttp(createTools: Create, port: number, context: CliContext): Promise<void> {
  const server = createServer((incoming, outgoing) => {
    answerRequest(createTools, incoming, outgoing).catch(() => outgoing.destroy());
  });
  const { origin } = await listen(server, { port });
  context.stdout.write(`MCP is at ${origin}${mcpPath}\n`);
  if (!context.signal.aborted) await once(context.signal, "abort");
  await closeServer(server);
}

const mcpPath = "/mcp";

async function answerRequest(
  createTools: Create,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  if (isForeignRequest(incoming.headers)) {
    const problem = "Only this machine's own names and origins are answered.";
    return refuseRequest(outgoing, 403, problem);
  }
  if (new URL(incoming.url ?? "/", "http://localhost").pathname !== mcpPath) {
    return refuseRequest(outgoing, 404, `Not found; MCP is at ${mcpPath}.`);
  }
  if (incoming.method !== "POST") {
    outgoing.setHeader("allow", "POST");
    return refuseRequest(
      outgoing,
      405,
      "Send messages by POST; there are no sessions and no stream.",
    );
  }
  const server = createTools();
  const transport = new StreamableHTTPServerTransport();
  // If the caller leaves, its request is aborted.
  outgoing.on("close", () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(incoming, outgoing);
}

function refuseRequest(outgoing: ServerResponse, status: number, message: string): void {
  const errorBody = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(errorBody));
}
