import { StatusError } from "../../errors.ts";
import type { JsonResponse } from "../../http/http-client.ts";
import { listAt, textAt } from "../../questions/json.ts";
import type { LabelCall, LabelConnection } from "./label-connection.ts";
import { type LabelServer, labelServers, type LabelServerName } from "./label-servers.ts";

/** The server kinds by the `owned_by` in their list of models. */
const owners: Record<string, LabelServerName> = {
  vllm: "vllm",
  sglang: "sglang",
  llamacpp: "llama.cpp",
  library: "ollama",
};

/**
 * Returns a function that detects the kind of server once, for all evaluations. If the server cannot
 * be reached or is not ready, it throws an EvaluatorError and the next call asks again.
 */
export function serverFinder(given: LabelServerName | "auto", connection: LabelConnection) {
  let known = given === "auto" ? null : given;
  let asking: Promise<unknown> | null = null;
  return async (call: LabelCall): Promise<LabelServer> => {
    while (known === null) {
      if (asking !== null) {
        await asking;
        continue;
      }
      call.signal.throwIfAborted();
      const found = detectServer((path) =>
        connection.send({ method: "GET", path, body: null }, call),
      );
      asking = found.catch(() => undefined);
      try {
        known = await found;
      } finally {
        asking = null;
      }
    }
    return labelServers[known];
  };
}

type LookUp = (path: string) => Promise<JsonResponse>;

/** Detects the kind by the list of models, else by Ollama's version; the default is OpenAI. */
async function detectServer(lookUp: LookUp): Promise<LabelServerName> {
  const models = await lookUpIfThere(lookUp, "/v1/models");
  for (const model of listAt(models?.json, "data")) {
    const owner = textAt(model, "owned_by") ?? "";
    if (Object.hasOwn(owners, owner)) return owners[owner] as LabelServerName;
  }
  // Ollama's `owned_by` may be any user.
  const version = await lookUpIfThere(lookUp, "/api/version");
  return textAt(version?.json, "version") === null ? "openai" : "ollama";
}

/** Returns the body of a path, or null if the server rejects the request. */
async function lookUpIfThere(lookUp: LookUp, path: string): Promise<JsonResponse | null> {
  try {
    return await lookUp(path);
  } catch (error) {
    const isAnswer = error instanceof StatusError && !error.isRetryable;
    if (isAnswer) return null;
    throw error;
  }
}
