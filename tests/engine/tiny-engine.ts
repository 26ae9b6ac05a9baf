import { mkdtempDisposable } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { listen } from "evaluator-kit";
import {
  type ControlledEvaluateInputItem,
  getLlama,
  type LlamaModel,
  type Token,
} from "node-llama-cpp";
import { writeTinyModel } from "./tiny-model.ts";

/** llama.cpp itself: the binary inside the installed package, nothing built or fetched. */
const llama = getLlama({ gpu: false, build: "never", skipDownload: true });

/**
 * Writes a tiny model, loads it, and serves it on loopback.
 *
 * @param options.likes - Token to what is added to its logit.
 * @param options.speaks - The wire: that of `llama-server`, or a chat with a short list of tokens.
 * @param options.mostListed - The most tokens its chat lists, however many are asked for.
 */
export async function startTinyEngine({
  likes,
  speaks = "llama.cpp",
  mostListed = 20,
}: {
  likes: Readonly<Record<string, number>>;
  speaks?: "llama.cpp" | "chat";
  mostListed?: number;
}) {
  const folder = await mkdtempDisposable(join(tmpdir(), "tiny-engine-"));
  const path = join(folder.path, "tiny.gguf");
  const vocabulary = await writeTinyModel(path, likes);
  const model = await (await llama).loadModel({ modelPath: path });
  const readOne = await startReading(model, vocabulary);
  let prompts = 0;
  let last: Promise<unknown> = Promise.resolve();
  const read = (prompt: string, count: number) => {
    prompts += 1;
    const reading = last.then(() => readOne(prompt, count));
    last = reading;
    return reading;
  };
  /** Returns the body that answers a route, or null where there is none. */
  const answer = async (route: string, body: RequestBody) => {
    if (route === "GET /v1/models") {
      return { data: [{ id: "tiny", owned_by: speaks === "llama.cpp" ? "llamacpp" : "somebody" }] };
    }
    if (route === "POST /apply-template") return { prompt: `${body.messages[0].content}\n\n` };
    if (route === "POST /completion") {
      const { position, tokens } = await read(body.prompt, body.n_probs);
      const usage = { tokens_evaluated: tokens, tokens_predicted: 1 };
      const content = position.token;
      return { model: "tiny", content, completion_probabilities: [position], ...usage };
    }
    if (route !== "POST /v1/chat/completions") return null;
    const count = Math.min(body.top_logprobs, mostListed);
    const { position, tokens } = await read(body.messages[0].content, count);
    const message = { role: "assistant", content: position.token };
    const usage = { prompt_tokens: tokens, completion_tokens: 1 };
    const logprobs = { content: [position] };
    return { model: "tiny", choices: [{ index: 0, message, logprobs }], usage };
  };
  const server = createServer(async (request, response) => {
    const received = request.method === "POST" ? await json(request) : {};
    const answered = await answer(`${request.method} ${request.url}`, received as RequestBody);
    response.statusCode = answered === null ? 404 : 200;
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answered));
  });
  const { origin: baseUrl } = await listen(server, { port: 0 });
  return {
    baseUrl,
    /** How many prompts the model has read. */
    get prompts() {
      return prompts;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await last;
      await model.dispose();
      await folder.remove();
    },
  };
}

interface RequestBody {
  readonly messages: readonly [{ readonly content: string }];
  readonly prompt: string;
  readonly n_probs: number;
  readonly top_logprobs: number;
}

/** Returns a function that reads a prompt, one at a time, and lists the tokens that may follow, likeliest first. */
async function startReading(model: LlamaModel, vocabulary: readonly string[]) {
  const context = await model.createContext({ contextSize: 4096 });
  const sequence = context.getSequence();
  return async (prompt: string, count: number) => {
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
    const position = {
      token: listed[0]?.token,
      ...listed[0],
      top_logprobs: listed.slice(0, count),
    };
    return { position, tokens: tokens.length + 1 };
  };
}
