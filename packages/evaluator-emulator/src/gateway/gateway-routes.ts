import { answerJson, type Judgement, standInFor } from "../answers/judgement.ts";
import {
  answerBy,
  type Call,
  type EmulatorContext,
  readJson,
  type Routes,
  withErrors,
} from "../call.ts";
import { type CatalogModel, findModel, models, toProvider, toDollarString } from "../catalog.ts";
import { mapRecord } from "../json.ts";
import { isOverTokenLimits } from "../questions/evaluation-input.ts";
import { toKind } from "../questions/kinds/kinds.ts";
import { admitCall, checkGatewayCall, requireAccount, settleCall } from "./gateway-call.ts";
import { gatewayError, RequestError } from "../request-error.ts";
import { parseGatewayInput } from "./gateway-input.ts";
import { languageRoute } from "./language-route.ts";

/** Returns the gateway: its model endpoints and those at the host root (contract 4.1 to 4.4). */
export function gatewayRoutes(context: EmulatorContext): (call: Call) => Promise<Response> {
  const routes: Routes = {
    "POST /v4/ai/evaluation-model": (call) => evaluationRoute(call, "evaluation-model", context),
    "POST /v4/ai/decision-model": (call) => evaluationRoute(call, "decision-model", context),
    "POST /v4/ai/language-model": (call) => languageRoute(call, context),
    "GET /v4/ai/config": () => Response.json({ models: models.map(providerEntry) }),
    "GET /v1/models": () => Response.json({ object: "list", data: modelList() }),
    "GET /v1/credits": (call) => {
      const { balance, totalUsed } = requireAccount(call, context);
      const total_used = toDollarString(totalUsed);
      return Response.json({ balance: toDollarString(balance), total_used });
    },
    "GET /v1/generation": (call) => {
      requireAccount(call, context);
      const data = context.ledger.generation(call.query["id"] ?? "");
      if (data === null) throw notFound("The gateway knows no such generation.");
      return Response.json({ data });
    },
    "GET /v1/report": (call) => {
      const { number } = requireAccount(call, context);
      return Response.json({ results: context.ledger.report(number, call.query) });
    },
  };
  return withErrors(async (call) => {
    const response = (await answerBy(routes, call)) ?? findEndpoints(call);
    if (response === null) throw notFound("The gateway has no such address.");
    return response;
  }, toErrorResponse);
}

function findEndpoints({ request, path }: Call): Response | null {
  const id = /^\/v1\/models\/([^/]+\/[^/]+)\/endpoints$/.exec(path)?.[1];
  if (id === undefined || request.method !== "GET") return null;
  return Response.json({ data: endpointEntry(findModel(id)) });
}

/** Answers one evaluation (contract section 4.1; the successor's body also names the model). */
async function evaluationRoute(
  call: Call,
  wire: "evaluation-model" | "decision-model",
  context: EmulatorContext,
): Promise<Response> {
  const admittedCall = checkGatewayCall(call, wire, context);
  const askedValue = await readJson(call);
  const input = parseGatewayInput(askedValue, wire);
  if (isOverTokenLimits(input)) throw new RequestError("The state is longer than the model reads.");
  admitCall(admittedCall, context);
  const judgement = context.answer(input);
  const { basis, usage } = judgement;
  const answeredParts = { standIn: standInFor(basis), usage, isStreamed: false, body: askedValue };
  const settledCall = settleCall(admittedCall, answeredParts, context);
  const model = wire === "decision-model" ? { model: settledCall.routing.canonicalSlug } : {};
  const body = { ...evaluationBody(judgement, settledCall), ...model };
  return answerJson(body, basis);
}

const vendor = "typesafe";

/** Returns the body of an answered evaluation in the gateway's form (contract section 2.3). */
function evaluationBody({ answers, usage, decimals }: Judgement, gatewayMetadata: object) {
  return {
    answers: mapRecord(answers, (answer) => toKind(answer).toGateway(answer)),
    rounding: { probabilityDecimals: decimals, scoreDecimals: decimals },
    usage,
    warnings: [],
    providerMetadata: { ...confidenceBlock(answers), gateway: gatewayMetadata },
  };
}

/** Returns the vendor's metadata; nothing if distributions are answered without a confidence. */
function confidenceBlock(answers: Judgement["answers"]) {
  const due = Object.entries(answers).filter(([, answer]) => toKind(answer).isDistribution);
  const confidences = due.filter(([, { confidence }]) => confidence !== null);
  if (due.length > 0 && confidences.length === 0) return {};
  const confidence = Object.fromEntries(confidences.map(([id, answer]) => [id, answer.confidence]));
  return { [vendor]: { confidence } };
}

function toErrorResponse(message: string, status: number): Response {
  const type = status === 500 ? "internal_server_error" : "invalid_request_error";
  return Response.json({ error: { message, type } }, { status });
}

function notFound(message: string): RequestError {
  return gatewayError(message, { status: 404, type: "not_found" });
}

// The emulator knows no release dates; every entry has the date of its list.
const listedAt = Date.UTC(2026, 10, 1) / 1000;

/** Returns the models as `GET /v1/models` lists them, prices in US dollars per token (field fact). */
export function modelList() {
  return models.map((model) => modelEntry(model));
}

function modelEntry(model: CatalogModel) {
  return {
    id: model.id,
    object: "model",
    created: listedAt,
    owned_by: toProvider(model),
    name: model.name,
    description: model.description,
    type: model.type,
    modalities: { input: ["text"], output: ["text"] },
    context_window: model.contextWindow,
    max_tokens: model.maxTokens,
    pricing: tokenPrices(model),
    // Contract section 1.10 gives it for the evaluation model only.
    ...(model.type === "evaluation" && dataHandling),
  };
}

/** Returns a model with its endpoints, as `GET /v1/models/{creator}/{model}/endpoints` shows it. */
function endpointEntry(model: CatalogModel) {
  const { input, output } = tokenPrices(model);
  return {
    id: model.id,
    name: model.name,
    created: listedAt,
    description: model.description,
    endpoints: [
      {
        provider_name: toProvider(model),
        context_length: model.contextWindow,
        pricing: { prompt: input, completion: output },
        supported_parameters: [],
        ...(model.type === "evaluation" ? dataHandling : noPromise),
        supports_implicit_caching: false,
      },
    ],
  };
}

/** Returns a model as the gateway provider of the `ai` package reads it from `GET /v4/ai/config`. */
function providerEntry(model: CatalogModel) {
  const { id, name, description, type: modelType } = model;
  const specification = { specificationVersion: "v4", provider: "gateway", modelId: id };
  return { id, name, description, pricing: tokenPrices(model), specification, modelType };
}

function tokenPrices({ inputPrice, outputPrice, ...cache }: CatalogModel) {
  const { cacheReadPrice: read, cacheWritePrice: write } = cache;
  return {
    input: toDollarString(inputPrice),
    output: toDollarString(outputPrice),
    ...(read !== undefined && { input_cache_read: toDollarString(read) }),
    ...(write !== undefined && { input_cache_write: toDollarString(write) }),
  };
}

const dataHandling = { zdr: "all", no_training: "all" };
// Every endpoint has these fields (contract section 4.3); the values of text models are unverified.
const noPromise = { zdr: "none", no_training: "none" };
