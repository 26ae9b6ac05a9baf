import { once } from "node:events";
import { get, type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { serveParent } from "evaluator-kit/child";

/** Replies that are read at once, each on its own connection. */
export interface ReadPlan {
  readonly origin: string;
  readonly streams: number;
  /** What each reply must have, in characters. */
  readonly characters: number;
}

/** Reads replies to their end, and checks that nothing is missing. */
async function readAll({ origin, streams, characters }: ReadPlan): Promise<void> {
  const read = async (number: number) => {
    const came = await readReply(`${origin}/chat`, `hi ${number}`);
    if (came !== characters) throw new Error(`A reply has ${came} characters, not ${characters}.`);
  };
  await Promise.all(Array.from({ length: streams }, (_, number) => read(number)));
}

/** Asks for a reply as events, and gives how many characters of text its deltas bring. */
async function readReply(url: string, message: string): Promise<number> {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const sent = request(url, { method: "POST", headers, agent: false });
  sent.end(JSON.stringify({ message }));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let characters = 0;
  let unread = "";
  for await (const chunk of response.setEncoding("utf8")) {
    unread += String(chunk);
    const end = unread.lastIndexOf("\n\n");
    if (end === -1) continue;
    // All deltas are the same letter, so the text between the quotes has their length.
    for (const [, text = ""] of unread.slice(0, end).matchAll(/"delta":"(a*)"/g)) {
      characters += text.length;
    }
    unread = unread.slice(end);
  }
  return characters;
}

let stop = new AbortController();
let probing: Promise<number[]> = Promise.resolve([]);

async function probe(origin: string, { signal }: AbortController): Promise<number[]> {
  const tookMs: number[] = [];
  while (!signal.aborted) {
    const startedAt = performance.now();
    const [response] = (await once(get(`${origin}/healthz`), "response")) as [IncomingMessage];
    await once(response.resume(), "end");
    tookMs.push(performance.now() - startedAt);
    await setTimeout(5);
  }
  return tookMs;
}

const service = {
  readAll,
  /** Requests the health repeatedly until `stop` is called. */
  startProbing(origin: string): void {
    stop = new AbortController();
    probing = probe(origin, stop);
  },
  /** Returns how long each answer took, in milliseconds. */
  stopProbing(): Promise<number[]> {
    stop.abort();
    return probing;
  },
};

/** The calls that a client's process takes. */
export type ClientService = typeof service;

serveParent(service);
