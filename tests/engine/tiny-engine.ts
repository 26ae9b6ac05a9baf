import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ControlledEvaluateInputItem,
  getLlama,
  type LlamaModel,
  type Token,
} from "node-llama-cpp";
import { vocabulary, writeTinyModel } from "./tiny-model.ts";

/** What the engine likes, and how it answers. */
export interface TinyEngineOptions {
  /** Token to what is added to its logit. */
  readonly likes: Readonly<Record<string, number>>;
  /** Whose wire it speaks: that of `llama-server`, or a chat with a short list of tokens. */
  readonly speaks?: "llama.cpp" | "chat";
  /** The most tokens its chat lists, however many are asked for. */
  readonly mostListed?: number;
}

/** A model that runs on llama.cpp in this process, behind a server on loopback. */
export interface TinyEngine extends AsyncDisposable {
  readonly baseUrl: string;
  /** How many prompts the model has read. */
  readonly prompts: number;
}

/** llama.cpp itself: the binary inside the installed package, nothing built or fetched. */
const llama = getLlama({ gpu: false, build: "never", skipDownload: true });

/** Writes a tiny model, loads it, and serves it. */
export async function startTinyEngine({
  likes,
  speaks = "llama.cpp",
  mostListed = 20,
}: TinyEngineOptions): Promise<TinyEngine> {
  const folder = await mkdtemp(join(tmpdir(), "tiny-engine-"));
  const path = join(folder, "tiny.gguf");
  await writeTinyModel(path, { likes });
  const model = await (await llama).loadModel({ modelPath: path });
  const readOne = await startReading(model);
  let prompts = 0;
  let last: Promise<unknown> = Promise.resolve();
  const read = (prompt: string) => {
    prompts += 1;
    const reading = last.then(() => readOne(prompt));
    last = reading;
    return reading;
  };
  /** Returns the body that answers a route, or null where there is none. */
  const answer = async (route: string, body: RequestBody) => {
    if (route === "GET /v1/models") return { data: [{ id: "tiny", owned_by: owner(speaks) }] };
    if (route === "POST /apply-template") return { prompt: `${body.messages[0].content}\n\n` };
    if (route === "POST /completion") return completion(await read(body.prompt), body.n_probs);
    if (route !== "POST /v1/chat/completions") return null;
    const count = Math.min(body.top_logprobs, mostListed);
    return chat(await read(body.messages[0].content), count);
  };
  const server = createServer(async (request, response) => {
    const answered = await answer(`${request.method} ${request.url}`, await readBody(request));
    response.statusCode = answered === null ? 404 : 200;
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answered));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    get prompts() {
      return prompts;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await last;
      await model.dispose();
      await rm(folder, { recursive: true });
    },
  };
}

interface RequestBody {
  readonly messages: readonly [{ readonly content: string }];
  readonly prompt: string;
  readonly n_probs: number;
  readonly top_logprobs: number;
}

interface Listed {
  readonly token: string;
  readonly logprob: number;
}

/** Returns a function that reads a prompt, one at a time, and lists all tokens that may follow, likeliest first. */
async function startReading(model: LlamaModel) {
  const context = await model.createContext({ contextSize: 4096 });
  const sequence = context.getSequence();
  return async (prompt: string): Promise<{ listed: Listed[]; tokens: number }> => {
    const tokens = [model.tokens.bos as Token, ...model.tokenize(prompt)];
    await sequence.clearHistory();
    const end = tokens.pop() as Token;
    const asked: ControlledEvaluateInputItem = [end, { generateNext: { probabilities: true } }];
    const evaluated = await sequence.controlledEvaluate([...tokens, asked]);
    const following = [...(evaluated.at(-1)?.next.probabilities ?? [])];
    const listed = following.map(([id, probability]) => {
      const token = (vocabulary[id] as string).replace("▁", " ");
      return { token, logprob: Math.min(0, Math.log(probability)) };
    });
    return { listed, tokens: tokens.length + 1 };
  };
}

type Read = Awaited<ReturnType<Awaited<ReturnType<typeof startReading>>>>;

function completion({ listed, tokens }: Read, count: number) {
  const [top] = listed;
  const position = { ...top, top_logprobs: listed.slice(0, count) };
  const usage = { tokens_evaluated: tokens, tokens_predicted: 1 };
  return { model: "tiny", content: top?.token, completion_probabilities: [position], ...usage };
}

function chat({ listed, tokens }: Read, count: number) {
  const [top] = listed;
  const content = [{ ...top, top_logprobs: listed.slice(0, count) }];
  const message = { role: "assistant", content: top?.token };
  const usage = { prompt_tokens: tokens, completion_tokens: 1 };
  return { model: "tiny", choices: [{ index: 0, message, logprobs: { content } }], usage };
}

function owner(speaks: "llama.cpp" | "chat"): string {
  return speaks === "llama.cpp" ? "llamacpp" : "somebody";
}

async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return JSON.parse(text === "" ? "{}" : text) as RequestBody;
}
