import { setTimeout } from "node:timers/promises";
import { serveParent } from "evaluator-kit/child";
import { request } from "undici";

const headers = { "content-type": "application/json", accept: "text/event-stream" };
let probing = new AbortController();

const service = {
  /** Reads replies at once, each on its own connection, and checks that none lacks a character. */
  async readAll(plan: { origin: string; streams: number; characters: number }): Promise<void> {
    const { origin, streams, characters } = plan;
    const read = async (_: unknown, number: number) => {
      const came = await readReply(`${origin}/v1/chat/completions`, `hi ${number}`);
      if (came === characters) return;
      throw new Error(`A reply has ${came} characters, not ${characters}.`);
    };
    await Promise.all(Array.from({ length: streams }, read));
  },
  /** Requests the health repeatedly until `stopProbing`; returns the milliseconds of each answer. */
  async probe(origin: string): Promise<number[]> {
    const tookMs: number[] = [];
    const { signal } = (probing = new AbortController());
    while (!signal.aborted) {
      const startedAt = performance.now();
      const { body } = await request(`${origin}/healthz`);
      await body.dump();
      tookMs.push(performance.now() - startedAt);
      await setTimeout(5);
    }
    return tookMs;
  },
  stopProbing(): void {
    probing.abort();
  },
};

/** Asks for a reply as events, and gives how many characters of text its deltas bring. */
async function readReply(url: string, content: string): Promise<number> {
  const { body } = await request(url, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "nano", stream: true, messages: [{ role: "user", content }] }),
  });
  let characters = 0;
  let unread = "";
  for await (const chunk of body.setEncoding("utf8")) {
    unread += String(chunk);
    const end = unread.lastIndexOf("\n\n");
    if (end === -1) continue;
    // All deltas are the same letter, so the text between the quotes has their length.
    for (const [, text = ""] of unread.slice(0, end).matchAll(/"(?:delta|content)":"(a*)"/g)) {
      characters += text.length;
    }
    unread = unread.slice(end);
  }
  return characters;
}

/** The calls that a client's process takes. */
export type ClientService = typeof service;

serveParent(service);
