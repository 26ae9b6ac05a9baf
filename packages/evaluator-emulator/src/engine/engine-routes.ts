import * as z from "zod/mini";
import { answerJson, lexicalModel } from "../answers/judgement.ts";
import {
  answerBy,
  bearerKey,
  type Call,
  type EmulatorContext,
  readJson,
  type Routes,
  type Side,
  withErrors,
} from "../call.ts";
import { modelList } from "../gateway/gateway-routes.ts";
import { isJsonRecord, mapped } from "../json.ts";
import { RequestError } from "../request-error.ts";
import { imageSchema, joinParts } from "../questions/content.ts";
import { allKinds, type JudgedAnswer, kindOf } from "../questions/kinds/kinds.ts";
import { logprobRoutes } from "./logprob-routes.ts";

/** Each playable server: the `owned_by` of its model, and its paths beside `/v1/models`. */
const engines = {
  openai: { owner: "system", paths: ["/v1/chat/completions", "/v1/decisions"] },
  vllm: { owner: "vllm", paths: ["/v1/chat/completions", "/tokenize", "/v1/decisions"] },
  "llama.cpp": {
    owner: "llamacpp",
    paths: ["/v1/chat/completions", "/apply-template", "/completion"],
  },
  ollama: { owner: "library", paths: ["/v1/chat/completions", "/api/version"] },
  sglang: {
    owner: "sglang",
    paths: ["/v1/chat/completions", "/tokenize", "/generate", "/v1/decisions"],
  },
} as const;

/** A server whose wire can be played. */
export type EngineName = keyof typeof engines;

/** The servers whose wire can be played. */
export const engineNames = Object.keys(engines) as readonly EngineName[];

/** Returns the routes of a chat server; its list of models ends with the gateway's. */
export function engineRoutes(engine: EngineName, context: EmulatorContext): Side {
  const { accounts } = context;
  const { owner, paths } = engines[engine];
  const model = { id: lexicalModel, object: "model", owned_by: owner };
  const others: Routes = {
    "GET /v1/models": () => Response.json({ object: "list", data: [model, ...modelList()] }),
    "GET /api/version": () => Response.json({ version: "0.35.0" }),
    "POST /v1/decisions": (call) => decisionsRoute(call, context),
  };
  const logprobs = Object.entries(logprobRoutes).map(([path, route]): [string, Routes[string]] => [
    `POST ${path}`,
    async (call) => {
      const body = await readJson(call);
      if (!isJsonRecord(body)) throw new RequestError("Expected a JSON object.");
      return route(call, body, { engine, context });
    },
  ]);
  const routes = { ...others, ...Object.fromEntries(logprobs) };
  const played = new Set<string>(["/v1/models", ...paths]);
  return withErrors(async (call) => {
    if (!played.has(call.path)) return null;
    if (accounts.isRestricted && accounts.find(bearerKey(call)) === null) {
      throw new RequestError("Invalid API key.", 401);
    }
    return await answerBy(routes, call);
  }, errorResponse);
}

/** Returns an error in OpenAI's shape, which chat servers share. */
function errorResponse(message: string, status: number): Response {
  const type = status === 401 ? "authentication_error" : "invalid_request_error";
  return Response.json({ error: { message, type, code: status } }, { status });
}

/** An address, which is its own key, or a `data:` URL. */
const imageUrlSchema = z.union([
  z.string().check(z.regex(/^https?:\/\/./)),
  z.pipe(
    mapped(z.string().check(z.regex(/^data:image\/\w+;base64,/)), (url) => {
      const [head = ""] = url.split(",", 1);
      return { format: head.slice(11, -7), base64: url.slice(head.length + 1) };
    }),
    imageSchema,
  ),
]);
const textSchema = mapped(z.string(), (content) => [{ content }]);
const partSchema = z.discriminatedUnion("type", [
  mapped(z.object({ type: z.literal("input_text"), text: z.string() }), ({ text: content }) => ({
    content,
  })),
  mapped(
    z.object({ type: z.literal("input_image"), image_url: imageUrlSchema }),
    ({ image_url: image }) => ({ image }),
  ),
]);
const messageSchema = z.object({
  role: z.literal("user"),
  content: z.union([textSchema, z.array(partSchema)]),
});
const bodySchema = z.object({
  input: z.union([
    textSchema,
    mapped(z.array(messageSchema).check(z.minLength(1)), (messages) =>
      messages.flatMap(({ content }) => content),
    ),
  ]),
  questions: z.array(z.union(allKinds.map(({ decision }) => decision))).check(z.minLength(1)),
});

/** Answers one request in OpenAI's decisions form: a list of answers, each with its question's name. */
async function decisionsRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const { data } = bodySchema.safeParse(await readJson(call));
  if (data === undefined) {
    throw new RequestError(
      "Expected input and a list of predicate, choice or score questions.",
      422,
    );
  }
  const questions = Object.fromEntries(
    data.questions.map(({ question }, index) => [String(index), question]),
  );
  const judgement = context.answer({ ...joinParts(data.input), questions });
  const { inputTokens: input_tokens, outputTokens: output_tokens } = judgement.usage;
  const body = {
    model: lexicalModel,
    answers: data.questions.map(({ name, question }, index) => {
      const answer = judgement.answers[index] as JudgedAnswer;
      return kindOf(question).toDecision(name, answer, question);
    }),
    usage: { input_tokens, output_tokens },
  };
  return answerJson(body, judgement.basis);
}
