import { Hono } from "hono";
import { lexicalModel } from "../answers/judgement.ts";
import {
  bearerKey,
  type CallEnvironment,
  defectMessage,
  type EmulatorContext,
  readJson,
  RequestError,
} from "../call.ts";
import { isJsonRecord } from "../json.ts";
import { decisionsRoute } from "./decisions.ts";
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
    if (accounts.isRestricted && enginePaths.has(call.req.path)) {
      const key = bearerKey(call);
      if (key === null || accounts.find(key) === null) {
        throw new RequestError("Invalid API key.", 401);
      }
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
  app.onError((error) =>
    error instanceof RequestError
      ? errorResponse(error.message, error.status)
      : errorResponse(defectMessage, 500),
  );
  return app;
}

/** Returns an error in OpenAI's shape, which chat servers share. */
function errorResponse(message: string, status: number): Response {
  const type = status === 401 ? "authentication_error" : "invalid_request_error";
  return Response.json({ error: { message, type, code: status } }, { status });
}
