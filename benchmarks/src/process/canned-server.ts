import { createServer, type Server, type Socket } from "node:net";
import { replyText } from "../sample-requests.ts";

/** Answers a request, such as `POST /path`: sends the reply now or later, or a 404 for null. */
type Answer = (methodAndPath: string, body: Buffer, send: (reply: Buffer | null) => void) => void;

/** The body of a text model's whole reply (field facts: language model specification v4). */
const replyBody = {
  content: [{ type: "text", text: replyText }],
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 9, text: 9, reasoning: 0 },
  },
  warnings: [],
};

const headEnd = Buffer.from("\r\n\r\n");
const notFound = toReply("404 Not Found", { error: { message: "Not found.", type: "not_found" } });

/** Makes an HTTP server of negligible cost, so that the client is measured. */
export function createCannedServer(answer: Answer): Server {
  return createServer({ noDelay: true }, (socket) => {
    let unread: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      unread = answerWholeRequests(unread, socket, answer);
    });
    socket.on("error", () => socket.destroy());
  });
}

/** Builds the bytes of a response; a string is sent unchanged. */
function toReply(status: string, body: object | string, headers = ""): Buffer {
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

/** Answers every complete request and returns the remaining bytes. */
function answerWholeRequests(bytes: Buffer, socket: Socket, answer: Answer): Buffer {
  const send = (reply: Buffer | null) => {
    if (socket.writable) socket.write(reply ?? notFound);
  };
  let rest = bytes;
  for (;;) {
    const bodyStart = rest.indexOf(headEnd) + headEnd.length;
    if (bodyStart < headEnd.length) return rest;
    const head = rest.toString("latin1", 0, bodyStart);
    const bodyEnd = bodyStart + contentLength(head);
    if (rest.length < bodyEnd) return rest;
    const methodAndPath = head.slice(0, head.indexOf(" HTTP/1.1\r\n"));
    answer(methodAndPath, rest.subarray(bodyStart, bodyEnd), send);
    rest = rest.subarray(bodyEnd);
  }
}

function contentLength(head: string): number {
  if (/^transfer-encoding:/im.test(head)) throw new Error("The canned server reads no chunks.");
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
}

/** Returns what both services answer, by method and path; an evaluation as the exchanges of a name do. */
export async function cannedReplies(name: string): Promise<ReadonlyMap<string, Buffer>> {
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
