import { createServer } from "node:http";
import { closeServer, listen } from "evaluator-kit";
import { createEmulator, type EmulatorOptions } from "evaluator-emulator";
import { onTestFinished } from "vitest";

/** Returns the address of an emulator that ends with the test. */
export async function startEmulator(options: EmulatorOptions = {}) {
  const emulator = createEmulator(options);
  onTestFinished(() => emulator.close());
  const address = await emulator.listen();
  return {
    ...address,
    /** Returns the paths that were asked for, in order. */
    paths: async (): Promise<string[]> => {
      const log = await fetch(`${address.origin}/_emulator/requests`);
      const { requests } = (await log.json()) as { requests: { path: string }[] };
      return requests.map(({ path }) => path);
    },
  };
}

/** Returns the address of a server that gives one JSON body, or an HTML page, for each path; 404 for others. */
export async function startServer(
  replies: Readonly<Record<string, { status?: number; json?: object; html?: string }>>,
): Promise<string> {
  const server = createServer((request, response) => {
    const reply = replies[request.url ?? ""] ?? { status: 404, json: { error: "no such path" } };
    request.resume();
    request.on("end", () => {
      const isJson = reply.json !== undefined;
      response.writeHead(reply.status ?? 200, {
        "content-type": isJson ? "application/json" : "text/html",
      });
      response.end(isJson ? JSON.stringify(reply.json) : reply.html);
    });
  });
  const { origin } = await listen(server, { port: 0 });
  onTestFinished(() => closeServer(server));
  return origin;
}

/** Returns an address of this machine at which nothing listens. */
export async function closedAddress(): Promise<string> {
  const server = createServer();
  const { origin } = await listen(server, { port: 0 });
  await closeServer(server);
  return origin;
}

/** Returns a chat's answer whose first token has these log-probabilities. */
export function chatReply(tokens: readonly (readonly [token: string, logprob: number])[]): object {
  const listed = tokens.map(([token, logprob]) => ({ token, logprob }));
  const content = [{ ...listed[0], top_logprobs: listed }];
  return { model: "m", choices: [{ message: {}, logprobs: { content } }] };
}
