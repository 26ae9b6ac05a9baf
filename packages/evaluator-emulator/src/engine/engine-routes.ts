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
import { isJsonRecord } from "../json.ts";
import { RequestError } from "../request-error.ts";
import { decisionsForm } from "../services/decisions-form.ts";
import { type EngineName, engines } from "./engines.ts";
import { logprobRoutes } from "./logprob-routes.ts";

/** Returns the routes of a chat server; its list of models ends with the gateway's. */
export function engineRoutes(engine: EngineName, emulatorContext: EmulatorContext): Side {
  const { accounts } = emulatorContext;
  const { owner, paths } = engines[engine];
  const judgeModel = { id: lexicalModel, object: "model", owned_by: owner };
  const otherRoutes: Routes = {
    "GET /v1/models": () => Response.json({ object: "list", data: [judgeModel, ...modelList()] }),
    "GET /api/version": () => Response.json({ version: "0.35.0" }),
    "POST /v1/decisions": (emulatedCall) => decisionsRoute(emulatedCall, emulatorContext),
  };
  const logprobEntries = Object.entries(logprobRoutes).map(
    ([path, route]): [string, Routes[string]] => [
      `POST ${path}`,
      async (emulatedCall) => {
        const requestBody = await readJson(emulatedCall);
        if (!isJsonRecord(requestBody)) throw new RequestError("Expected a JSON object.");
        return route(emulatedCall, requestBody, { engine, context: emulatorContext });
      },
    ],
  );
  const allRoutes = { ...otherRoutes, ...Object.fromEntries(logprobEntries) };
  const playedPaths = new Set<string>(["/v1/models", ...paths]);
  return withErrors(async (emulatedCall) => {
    if (!playedPaths.has(emulatedCall.path)) {
      // No other server's at this address.
      if (emulatedCall.path === "/v1/decisions") throw new RequestError("Not Found", 404);
      return null;
    }
    if (accounts.isRestricted && accounts.find(bearerKey(emulatedCall)) === null) {
      throw new RequestError("Invalid API key.", 401);
    }
    return await answerBy(allRoutes, emulatedCall);
  }, errorResponse);
}

/** Returns an error in OpenAI's shape, which chat servers share. */
function errorResponse(message: string, statusCode: number): Response {
  const type = statusCode === 401 ? "authentication_error" : "invalid_request_error";
  return Response.json({ error: { message, type, code: statusCode } }, { status: statusCode });
}

/** Answers one request in OpenAI's decisions form, of any model and with any number of options. */
async function decisionsRoute(
  emulatedCall: Call,
  emulatorContext: EmulatorContext,
): Promise<Response> {
  const { input, toBody } = decisionsForm(await readJson(emulatedCall));
  const judgement = emulatorContext.answer(input);
  return answerJson(toBody(judgement, lexicalModel), judgement.basis);
}
