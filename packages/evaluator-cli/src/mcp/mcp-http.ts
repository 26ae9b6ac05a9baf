import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { closeServer, isForeignRequest, listen, parseJson } from "evaluator-kit";

const path = "/mcp";
// A state of 32k tokens has about 130 kB.
const maxBodyBytes = 4 * 1024 * 1024;

/** Serves MCP over streamable HTTP on loopback; each message gets a new server, without sessions. */
export async function serveMcp(create: () => McpServer, port: number) {
  const server = createServer((incoming, outgoing) => {
    answer(create, incoming, outgoing).catch(() => outgoing.destroy());
  });
  const { origin } = await listen(server, { port });
  return { url: origin + path, close: () => closeServer(server) };
}

async function answer(
  create: () => McpServer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (isForeignRequest(incoming.headers)) {
    const problem = "This server answers to this machine's own names and origins only.";
    return refuse(outgoing, 403, problem);
  }
  if (new URL(incoming.url ?? "/", "http://localhost").pathname !== path) {
    return refuse(outgoing, 404, `There is nothing here; MCP is at ${path}.`);
  }
  if (incoming.method !== "POST") {
    outgoing.setHeader("allow", "POST");
    return refuse(outgoing, 405, "Messages are sent by POST; there are no sessions and no stream.");
  }
  const text = await readBody(incoming);
  if (text === null) {
    const limit = maxBodyBytes.toLocaleString("en");
    return refuse(outgoing, 413, `The message has over ${limit} bytes; send a shorter state.`);
  }
  const message = parseJson(text);
  if (message === null) return refuse(outgoing, 400, "The message is not JSON.");
  const server = create();
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  // If the caller leaves, its request is aborted.
  outgoing.on("close", () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(incoming, outgoing, message);
}

async function readBody(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks).toString("utf8") : null;
}

function refuse(outgoing: ServerResponse, status: number, message: string): void {
  const error = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(error));
}
