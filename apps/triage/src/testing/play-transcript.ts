import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** One command of the client, and the lines of the answer; `TAG` is the command's tag. */
interface Exchange {
  readonly command: string;
  readonly answer: readonly string[];
}

/**
 * Plays the transcripts of connections, one after the other, on a port of this machine.
 *
 * A line `C: WORDS` is the start of a command, and the lines `S: …` behind it are the answer. A literal
 * `S: {TEXT` gets its length. `S: CUT` closes the connection, which the end of a transcript does not.
 * Lines before the first command are the greeting.
 */
export async function playTranscripts(...transcripts: readonly string[]) {
  const waiting = transcripts.map(exchangesOf);
  const sockets = new Set<Socket>();
  const unexpected: string[] = [];
  const server = createServer((socket) => {
    // It answers in several packets; with Nagle's algorithm, each answer would take 40 ms.
    sockets.add(socket.setNoDelay(true).on("error", () => {}));
    void play(socket, waiting.shift() ?? [], unexpected);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    if (unexpected.length > 0) throw new Error(`Not in the transcript:\n${unexpected.join("\n")}`);
  });
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return {
    url: `imap://ada@127.0.0.1:${port}/INBOX`,
    /** Sends lines that no command asked for to all connections. */
    say(...lines: readonly string[]): void {
      for (const socket of sockets) send(socket, lines, "*");
    },
    /** The number of transcripts that no connection has begun. */
    left: () => waiting.length,
  };
}

function exchangesOf(transcript: string): Exchange[] {
  const parts = `C: \n${transcript}`.split(/^ *C: ?/m).slice(1);
  return parts.map((part) => {
    const [command = "", ...lines] = part.split("\n").map((line) => line.trim());
    return { command, answer: lines.filter(Boolean).map((line) => line.replace(/^S: ?/, "")) };
  });
}

async function play(
  socket: Socket,
  [greeting, ...exchanges]: readonly Exchange[],
  unexpected: string[],
): Promise<void> {
  send(socket, greeting?.answer ?? [], "*");
  let rest = "";
  const left = [...exchanges];
  socket.on("data", (data) => {
    const lines = (rest + String(data)).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [tag = "", ...words] = line.split(" ");
      const command = tag === "DONE" ? "DONE" : words.join(" ");
      const at = left.findIndex((exchange) => command.startsWith(exchange.command));
      const [found] = at === -1 ? [] : left.splice(at, 1);
      if (found !== undefined) send(socket, found.answer, tag);
      else if (command.startsWith("LOGOUT")) send(socket, ["* BYE", "TAG OK", "CUT"], tag);
      else {
        unexpected.push(command);
        send(socket, ["TAG BAD Not in the transcript."], tag);
      }
    }
  });
}

function send(socket: Socket, lines: readonly string[], tag: string): void {
  for (const line of lines) {
    if (line === "CUT") socket.destroy();
    else socket.write(`${withLiterals(line).replaceAll("TAG", tag)}\r\n`);
  }
}

// `{Hello\r\n}` in a line is a literal.
function withLiterals(line: string): string {
  return line.replace(/\{([^{}]*)\}/g, (_, text: string) => {
    const bytes = text.replaceAll("\\r\\n", "\r\n");
    return `{${Buffer.byteLength(bytes)}}\r\n${bytes}`;
  });
}
