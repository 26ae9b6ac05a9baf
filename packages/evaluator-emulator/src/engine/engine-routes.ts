import { Hono } from "hono";
import { z } from "zod";
import { answerJson, lexicalModel } from "../answers/judgement.ts";
import {
  bearerKey,
  type Call,
  type CallEnvironment,
  type EmulatorContext,
  readJson,
} from "../call.ts";
import { isJsonRecord } from "../json.ts";
import { errorHandler, RequestError } from "../request-error.ts";
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

const enginePaths = new Set<string>([
  "/v1/models",
  ...Object.values(engines).flatMap(({ paths }) => paths),
]);

/** Returns the routes of a chat server; they hide the gateway's list of models. */
export function engineRoutes(engine: EngineName, context: EmulatorContext): Hono<CallEnvironment> {
  const { accounts } = context;
  const app = new Hono<CallEnvironment>();
  app.use(async (call, next) => {
    const isGuarded = accounts.isRestricted && enginePaths.has(call.req.path);
    if (isGuarded && accounts.find(bearerKey(call)) === null) {
      throw new RequestError("Invalid API key.", 401);
    }
    await next();
  });
  const { owner, paths } = engines[engine];
  app.get("/v1/models", () => {
    const model = { id: lexicalModel, object: "model", owned_by: owner };
    return Response.json({ object: "list", data: [model] });
  });
  for (const path of paths) {
    if (path === "/api/version") app.get(path, () => Response.json({ version: "0.35.0" }));
    else if (path === "/v1/decisions") app.post(path, (call) => decisionsRoute(call, context));
    else {
      app.post(path, async (call) => {
        const body = await readJson(call);
        if (!isJsonRecord(body)) throw new RequestError("Expected a JSON object.");
        return logprobRoutes[path]?.(call, body, { engine, context });
      });
    }
  }
  app.onError(errorHandler(errorResponse));
  return app;
}

/** Returns an error in OpenAI's shape, which chat servers share. */
function errorResponse(message: string, status: number): Response {
  const type = status === 401 ? "authentication_error" : "invalid_request_error";
  return Response.json({ error: { message, type, code: status } }, { status });
}

/** An address, which is its own key, or a `data:` URL. */
const imageUrlSchema = z.union([
  z.string().regex(/^https?:\/\/./),
  z
    .string()
    .regex(/^data:image\/\w+;base64,/, "expected an address, or a data: URL of an image in base64")
    .transform((url) => {
      const [head = ""] = url.split(",", 1);
      return { format: head.slice(11, -7), base64: url.slice(head.length + 1) };
    })
    .pipe(imageSchema),
]);
const textSchema = z.string().transform((content) => [{ content }]);
const partSchema = z.discriminatedUnion("type", [
  z
    .object({ type: z.literal("input_text"), text: z.string() })
    .transform(({ text: content }) => ({ content })),
  z
    .object({ type: z.literal("input_image"), image_url: imageUrlSchema })
    .transform(({ image_url: image }) => ({ image })),
]);
const messageSchema = z.object({
  role: z.literal("user"),
  content: z.union([textSchema, z.array(partSchema)]),
});
const bodySchema = z.object({
  input: z.union([
    textSchema,
    z
      .array(messageSchema)
      .min(1)
      .transform((messages) => messages.flatMap(({ content }) => content)),
  ]),
  questions: z.array(z.union(allKinds.map(({ decision }) => decision))).min(1),
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
