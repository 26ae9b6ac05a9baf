import { createServer, type Server, type Socket } from "node:net";
import { replyBody } from "../sample-requests.ts";

/** One reply as the bytes of a whole HTTP response. */
export type CannedReply = Buffer;

/** The replies of a server, and callbacks for each. */
export interface CannedServerOptions {
  /** Returns the reply to `POST /path`; null makes it a 404. Called for each request. */
  readonly replyTo: (methodAndPath: string) => CannedReply | null;
  /** How long a reply waits, in milliseconds; 0 sends it at once. */
  readonly latencyMs: () => number;
  /** Called for each request with a reply, body included. */
  readonly onRequest?: (methodAndPath: string, body: Buffer) => void;
  /** Called when a reply is written, and how many milliseconds it took. */
  readonly onReply?: (methodAndPath: string, tookMs: number) => void;
}

const headEnd = Buffer.from("\r\n\r\n");
const notFound = toReply("404 Not Found", { error: { message: "Not found.", type: "not_found" } });

/** Makes an HTTP server of negligible cost, so that the client is measured. */
export function createCannedServer(options: CannedServerOptions): Server {
  return createServer({ noDelay: true }, (socket) => {
    let unread: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      unread = answerWholeRequests(unread, { socket, options });
    });
    socket.on("error", () => socket.destroy());
  });
}

/** Builds the bytes of a response; a string is sent unchanged. */
export function toReply(status: string, body: object | string, headers = ""): CannedReply {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const head = [
    `HTTP/1.1 ${status}`,
    "content-type: application/json; charset=utf-8",
    "cache-control: public, max-age=0, must-revalidate",
    "date: Mon, 02 Mar 2026 09:00:10 GMT",
    "strict-transport-security: max-age=63072000",
    `${headers}content-length: ${bytes.length}`,
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head), headEnd, bytes]);
}

interface Connection {
  readonly socket: Socket;
  readonly options: CannedServerOptions;
}

/** Answers every complete request and returns the remaining bytes. */
function answerWholeRequests(bytes: Buffer, connection: Connection): Buffer {
  let rest = bytes;
  for (;;) {
    const bodyStart = rest.indexOf(headEnd) + headEnd.length;
    if (bodyStart < headEnd.length) return rest;
    const head = rest.toString("latin1", 0, bodyStart);
    const bodyEnd = bodyStart + contentLength(head);
    if (rest.length < bodyEnd) return rest;
    answer(head, rest.subarray(bodyStart, bodyEnd), connection);
    rest = rest.subarray(bodyEnd);
  }
}

function contentLength(head: string): number {
  if (/^transfer-encoding:/im.test(head)) throw new Error("The canned server reads no chunks.");
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
}

function answer(head: string, body: Buffer, { socket, options }: Connection): void {
  const methodAndPath = head.slice(0, head.indexOf(" HTTP/1.1\r\n"));
  const reply = options.replyTo(methodAndPath);
  if (reply === null) return void socket.write(notFound);
  options.onRequest?.(methodAndPath, body);
  const startedAt = performance.now();
  const send = () => {
    if (!socket.writable) return;
    socket.write(reply);
    options.onReply?.(methodAndPath, performance.now() - startedAt);
  };
  const latencyMs = options.latencyMs();
  if (latencyMs === 0) send();
  else setTimeout(send, latencyMs);
}

/** Returns what both services answer, by method and path; an evaluation as the exchanges of a name do. */
export async function cannedReplies(name: string): Promise<ReadonlyMap<string, CannedReply>> {
  const [gatewayBody, directBody] = [
    await readResponse("gateway", name),
    await readResponse("direct", name),
  ];
  const gateway = toReply("200 OK", gatewayBody, "x-vercel-id: fra1::bench-1\r\n");
  return new Map([
    ["POST /v4/ai/evaluation-model", gateway],
    ["POST /v4/ai/decision-model", gateway],
    ["POST /v4/ai/language-model", toReply("200 OK", replyBody)],
    ["GET /v1/models", toReply("200 OK", { object: "list", data: [] })],
    ["POST /v1/systemone", toReply("200 OK", directBody, "x-typesafe-request-id: req_bench1\r\n")],
  ]);
}

async function readResponse(wire: "gateway" | "direct", name: string): Promise<object> {
  const path = `evaluator-fixtures/exchanges/${wire}/${name}.json`;
  const exchange = (await import(path, { with: { type: "json" } })) as {
    default: { response: { body: object } };
  };
  return exchange.default.response.body;
}
