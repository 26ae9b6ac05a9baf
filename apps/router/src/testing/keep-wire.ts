import { channel } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { onTestFinished, vi } from "vitest";
import type { Keep } from "./planted-key.ts";

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
  keep(() => write.mock.calls.map(([sent]) => textOf(sent)).join(""));
}

function textOf(sent: Uint8Array | string): string {
  return typeof sent === "string" ? sent : Buffer.from(sent).toString();
}
