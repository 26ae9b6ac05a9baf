import { Hono } from "hono";
import { basisHeader, lexicalModel } from "../basis.ts";
import { bearerKey, type Call, type CallEnvironment, readJson, UnreadableBody } from "../call.ts";
import type { EmulatorContext } from "../emulator-context.ts";
import { isJsonRecord } from "../json.ts";
import { chatReply } from "./chat-reply.ts";
import { decisionsBody, parseDecisions } from "./decisions.ts";
import { type FirstToken, firstTokens, listTokens } from "./first-tokens.ts";
import { packToken, tokenIds, tokenText } from "./tokenizer.ts";

/** The servers whose wire can be played beside the gateway and the vendor. */
export const engineNames = ["openai", "vllm", "llama.cpp", "ollama", "sglang"] as const;

/** A server whose wire can be played. */
export type EngineName = (typeof engineNames)[number];

const owners: Readonly<Record<EngineName, string>> = {
  openai: "system",
  vllm: "vllm",
  "llama.cpp": "llamacpp",
  ollama: "library",
  sglang: "sglang",
};
/** The most tokens that a chat lists. */
const mostListed = 20;

/** Returns the routes of a chat server, its model the judge; they hide the gateway's list of models. */
export function engineRoutes(engine: EngineName, context: EmulatorContext): Hono<CallEnvironment> {
  const app = new Hono<CallEnvironment>();
  app.use(async (call, next) => {
    if (isEnginePath(call.req.path)) requireKey(call, context);
    await next();
  });
  app.get("/v1/models", () => {
    const model = { id: lexicalModel, object: "model", owned_by: owners[engine] };
    return Response.json({ object: "list", data: [model] });
  });
  app.post("/v1/chat/completions", (call) => chatRoute(call, { engine, context }));
  if (engine === "ollama") app.get("/api/version", () => Response.json({ version: "0.35.0" }));
  if (engine === "llama.cpp") {
    app.post("/apply-template", async (call) => {
      const prompt = `<|user|>\n${messageIn(await readBody(call))}\n<|assistant|>\n`;
      return Response.json({ prompt });
    });
    app.post("/completion", (call) => completionRoute(call, context));
  }
  if (engine === "vllm" || engine === "sglang")
    app.post("/tokenize", (call) => tokenizeRoute(call));
  if (engine === "sglang") app.post("/generate", (call) => generateRoute(call, context));
  if (engine === "openai" || engine === "vllm" || engine === "sglang") {
    app.post("/v1/decisions", (call) => decisionsRoute(call, context));
  }
  app.onError((error) => toEngineError(error).toResponse());
  return app;
}

const enginePaths = new Set([
  "/v1/models",
  "/v1/chat/completions",
  "/v1/decisions",
  "/api/version",
  "/apply-template",
  "/completion",
  "/tokenize",
  "/generate",
]);

/** Returns whether an address is a chat server's. */
function isEnginePath(path: string): boolean {
  return enginePaths.has(path);
}

/** An HTTP error in the shape that chat servers share. */
class EngineError extends Error {
  override readonly name = "EngineError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Returns the response in OpenAI's error shape. */
  toResponse(): Response {
    const type = this.status === 401 ? "authentication_error" : "invalid_request_error";
    const { message, status } = this;
    return Response.json({ error: { message, type, code: status } }, { status });
  }
}

function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (error instanceof UnreadableBody) return new EngineError(error.status, error.message);
  return new EngineError(500, "The emulator failed; this is a defect of the emulator.");
}

function requireKey(call: Call, { accounts }: EmulatorContext): void {
  if (!accounts.isRestricted) return;
  const key = bearerKey(call);
  if (key === null || accounts.find(key) === null) throw new EngineError(401, "Invalid API key.");
}

async function chatRoute(
  call: Call,
  { engine, context }: { engine: EngineName; context: EmulatorContext },
): Promise<Response> {
  const body = await readBody(call);
  const reply = body["logprobs"] === true ? null : chatReply(body, context.nextId);
  if (reply !== null) return reply;
  const id = `chatcmpl-${context.nextId()}`;
  const prompt = messageIn(body);
  const trap = call.get("trap") ?? null;
  const { tokens, basis } = firstTokens(prompt, { answer: context.answer, trap });
  const depth = Math.min(Number(body["top_logprobs"] ?? 0), mostListed);
  const ids = engine === "vllm" ? idsIn(body, "logprob_token_ids") : [];
  const named =
    ids.length === 0 ? tokens : tokens.filter(({ token }) => ids.includes(packToken(token)));
  const listed = listTokens(named, { depth: ids.length || depth, trap });
  const [said] = trap === "thinking-first" ? listed : tokens;
  const isAsked = body["logprobs"] === true && trap !== "no-logprobs";
  const content = [{ ...said, top_logprobs: listed }];
  return Response.json(
    {
      id,
      object: "chat.completion",
      model: lexicalModel,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: said?.token ?? "" },
          logprobs: isAsked ? { content } : null,
          finish_reason: "length",
        },
      ],
      usage: usageOf(prompt),
    },
    { headers: basisHeader(basis) },
  );
}

async function completionRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const body = await readBody(call);
  const prompt = textIn(body, "prompt");
  const trap = call.get("trap") ?? null;
  const { tokens, basis } = firstTokens(prompt, { answer: context.answer, trap });
  const listed = listTokens(tokens, { depth: Number(body["n_probs"] ?? 0), trap });
  const [said] = tokens;
  const position = { ...said, top_logprobs: listed };
  const { prompt_tokens: tokens_evaluated } = usageOf(prompt);
  const probabilities = trap === "no-logprobs" ? {} : { completion_probabilities: [position] };
  return Response.json(
    {
      content: said?.token,
      model: lexicalModel,
      ...probabilities,
      tokens_evaluated,
      tokens_predicted: 1,
    },
    { headers: basisHeader(basis) },
  );
}

async function tokenizeRoute(call: Call): Promise<Response> {
  const body = await readBody(call);
  const tokens = Array.isArray(body["messages"])
    ? tokenIds(messageIn(body))
    : tokenIds(textIn(body, "prompt"));
  return Response.json({ tokens, count: tokens.length, max_model_len: 32_768 });
}

async function generateRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const body = await readBody(call);
  const prompt = tokenText(idsIn(body, "input_ids"));
  const trap = call.get("trap") ?? null;
  const { tokens, basis } = firstTokens(prompt, { answer: context.answer, trap });
  const depth = Number(body["top_logprobs_num"] ?? 0);
  const ids = idsIn(body, "token_ids_logprob");
  const named = tokens.filter(({ token }) => ids.includes(packToken(token)));
  const listed = (some: readonly FirstToken[], count: number) => [
    listTokens(some, { depth: count, trap }).map(entry),
  ];
  const logprobs =
    trap === "no-logprobs"
      ? {}
      : {
          output_top_logprobs: listed(tokens, depth),
          output_token_ids_logprobs: trap === "short-list" ? [[]] : listed(named, ids.length),
        };
  const { prompt_tokens, completion_tokens } = usageOf(prompt);
  return Response.json(
    { text: tokens[0]?.token, meta_info: { prompt_tokens, completion_tokens, ...logprobs } },
    { headers: basisHeader(basis) },
  );
}

async function decisionsRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const request = parseDecisions(await readJson(call));
  if (request === null) {
    throw new EngineError(
      422,
      "Expected input and a list of predicate, choice or score questions.",
    );
  }
  const judgement = context.answer(request.input);
  return Response.json(decisionsBody(request, judgement), {
    headers: basisHeader(judgement.basis),
  });
}

/** Returns a token as SGLang lists it. */
function entry({ token, logprob }: FirstToken) {
  return [logprob, packToken(token), token];
}

async function readBody(call: Call): Promise<Record<string, unknown>> {
  const body = await readJson(call);
  if (isJsonRecord(body)) return body;
  throw new EngineError(400, "Expected a JSON object.");
}

function messageIn({ messages }: Record<string, unknown>): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null;
  return isJsonRecord(last) ? textIn(last, "content") : textIn({}, "messages");
}

function textIn(body: Record<string, unknown>, field: string): string {
  const text = body[field];
  if (typeof text === "string") return text;
  throw new EngineError(400, `Expected text in ${field}.`);
}

function idsIn(body: Record<string, unknown>, field: string): readonly number[] {
  const ids = body[field];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "number") : [];
}

/** Four bytes a token, as everywhere in the emulator. */
function usageOf(prompt: string) {
  return { prompt_tokens: Math.ceil(Buffer.byteLength(prompt) / 4), completion_tokens: 1 };
}
