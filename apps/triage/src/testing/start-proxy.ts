import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** What a proxy changes and reports. */
interface ProxyOptions {
  /** Words that are removed from CAPABILITY. @default none */
  readonly without?: readonly string[];
  /** Gets each line of the client, before the server does; the server waits for its end. */
  readonly onCommand?: (line: string) => void | Promise<void>;
  /** Changes each line of the client, before the server gets it. @default unchanged */
  readonly toCommand?: (line: string) => string;
  /** Changes each text of the server, before the client gets it. @default unchanged */
  readonly onReply?: (text: string) => string;
}

/** Passes connections to a port of this machine through a free port. */
export async function startProxy(target: number, options: ProxyOptions = {}) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket
        .on("error", () => {})
        .on("close", () => {
          client.destroy();
          upstream.destroy();
        });
    }
    void passCommands(client, upstream, options);
    upstream.on("data", (data) => {
      const text = withoutWords(data.toString("latin1"), options.without ?? []);
      client.write(options.onReply?.(text) ?? text, "latin1");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    /** Cuts all connections. */
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function passCommands(
  client: Socket,
  upstream: Socket,
  { onCommand, toCommand }: ProxyOptions,
): Promise<void> {
  let rest = "";
  try {
    for await (const data of client.iterator({ destroyOnReturn: true })) {
      rest += (data as Buffer).toString("latin1");
      const lines = rest.split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        await onCommand?.(line);
        upstream.write(`${toCommand?.(line) ?? line}\r\n`, "latin1");
      }
    }
  } catch {
    // A cut connection.
  }
  upstream.end();
}

function withoutWords(text: string, words: readonly string[]): string {
  if (words.length === 0 || !text.includes("CAPABILITY")) return text;
  return text.replaceAll(/CAPABILITY [^\]\r\n]*/g, (list) => {
    return list
      .split(" ")
      .filter((word) => !words.includes(word))
      .join(" ");
  });
}
