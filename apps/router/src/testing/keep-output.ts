import { channel } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import type { TextSink } from "evaluator-kit";
import { expect, onTestFinished, vi } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";

/** The key around every router that a test starts. */
export const plantedKey = "planted-key-4711-0815";

/** Keeps something that a router printed or sent: a text, what JSON can hold, or what gives a text at the end. */
export type Keep = (output: unknown) => void;

/** Every part of the planted key that a service may print in an error: 8 characters and more. */
const keyParts = Array.from({ length: plantedKey.length - 7 }, (_, start) =>
  plantedKey.slice(start, start + 8),
);

/**
 * Keeps everything a router prints or sends; a test whose router let the planted key out, or 8
 * characters of it in a row, fails at its end.
 */
export function keepOutput(): Keep {
  const kept: unknown[] = [];
  onTestFinished(async () => {
    await setImmediate(); // what is on its way
    const text = kept.map(textOf).join("\n");
    expect(keyParts.filter((part) => text.includes(part))).toEqual([]);
  });
  return (output) => void kept.push(output);
}

function textOf(output: unknown): string {
  if (typeof output === "function") return String(output());
  return output instanceof Error ? inspect(output) : (JSON.stringify(output) ?? "");
}

/** Where a router writes its records and its access log to. */
interface Logs {
  readonly observe?: (record: MessageRecord) => void;
  readonly accessLog?: TextSink;
}

/** Keeps every record and every line of the access log, and gives it on to the test's own. */
export function keepLogs({ observe, accessLog }: Logs, keep: Keep): Required<Logs> {
  return {
    observe: (record: MessageRecord) => {
      keep(record);
      observe?.(record);
    },
    accessLog: {
      write(line) {
        keep(line);
        return accessLog?.write(line);
      },
    },
  };
}

/** Keeps the head of a response now and its body as it comes, and gives it on as it was. */
export function keepResponse(response: Response, keep: Keep): Response {
  keep([response.status, ...response.headers]);
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  let text = "";
  keep(() => text);
  const passing = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>(
    {
      transform(bytes, controller) {
        text += decoder.decode(bytes, { stream: true });
        controller.enqueue(bytes);
      },
    },
    undefined,
    { highWaterMark: Infinity }, // a body that a test does not read is kept as well
  );
  return new Response(response.body.pipeThrough(passing), response);
}

const accepted = channel("net.server.socket");

/** Keeps everything that the server on a port of this process sends, until the test is over. */
export function keepWire(port: number, keep: Keep): void {
  const watch = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === port) keepSent(socket, keep);
  };
  accepted.subscribe(watch);
  onTestFinished(() => accepted.unsubscribe(watch));
}

function keepSent(socket: Socket, keep: Keep): void {
  const write = vi.spyOn(socket, "write");
  keep(() => write.mock.calls.map(([sent]) => sentText(sent)).join(""));
}

function sentText(sent: Uint8Array | string): string {
  return typeof sent === "string" ? sent : Buffer.from(sent).toString();
}
