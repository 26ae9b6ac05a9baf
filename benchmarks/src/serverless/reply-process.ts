import { once } from "node:events";
import { connect } from "node:http2";
import { setDefaultCACertificates } from "node:tls";
import { createHttpClient } from "evaluator-client/http";
import { serveParent } from "evaluator-kit/child";
import { gatewayHeaders, replyText } from "../sample-requests.ts";

const BURST = 64;
const body = JSON.stringify({ prompt: [{ role: "user", content: "Hello" }] });

/** What reads replies of a text model, in the order of the table. */
export const replyReaders = {
  "bare `node:http2`": openBareHttp2,
  "the HTTP client that the router reads replies with": openClient,
} satisfies Record<string, (url: string) => () => Promise<string>>;

let read = async (): Promise<string> => "";

const service = {
  /** Prepares a reader of replies at an address. */
  setUp({ name, ca, url }: { name: keyof typeof replyReaders; ca: string; url: string }) {
    setDefaultCACertificates([ca]);
    read = replyReaders[name](url);
  },
  /** Reads replies at once; returns the time in milliseconds. @throws Error if a reply is not whole */
  async burst() {
    const startedAt = performance.now();
    const replies = await Promise.all(Array.from({ length: BURST }, read));
    const burstMs = performance.now() - startedAt;
    if (replies.every((reply) => reply.includes(replyText))) return burstMs;
    throw new Error("A reply is not whole.");
  },
};

function openBareHttp2(url: string) {
  const { origin, pathname } = new URL(url);
  const session = connect(origin);
  const headers = { ":method": "POST", ":path": pathname, ...gatewayHeaders };
  return async () => {
    const stream = session.request(headers);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
    stream.end(body);
    await once(stream, "end");
    return String(Buffer.concat(chunks));
  };
}

function openClient(url: string) {
  const client = createHttpClient({ env: {} });
  const endpoint = { method: "POST", url, headers: gatewayHeaders } as const;
  return async () => {
    const { signal } = new AbortController();
    const { read: readBody } = await client.stream(endpoint, body, { signal });
    const chunks: Uint8Array[] = [];
    await readBody((chunk) => void chunks.push(chunk));
    return String(Buffer.concat(chunks));
  };
}

/** The calls that the process takes. */
export type ReplyService = typeof service;

if (process.send !== undefined) serveParent(service);
