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
export function gatewayRoutes(
  emulatorContext: EmulatorContext,
): (emulatedCall: Call) => Promise<Response> {
  const routes: Routes = {
    "POST /v4/ai/evaluation-model": (emulatedCall) =>
      evaluationRoute(emulatedCall, "evaluation-model", emulatorContext),
    "POST /v4/ai/decision-model": (emulatedCall) =>
      evaluationRoute(emulatedCall, "decision-model", emulatorContext),
    "POST /v4/ai/language-model": (emulatedCall) => languageRoute(emulatedCall, emulatorContext),
    "GET /v4/ai/config": () => Response.json({ models: models.map(providerEntry) }),
    "GET /v1/models": () => Response.json({ object: "list", data: modelList() }),
    "GET /v1/credits": (emulatedCall) => {
      const { balance, totalUsed } = requireAccount(emulatedCall, emulatorContext);
      const total_used = toDollarString(totalUsed);
      return Response.json({ balance: toDollarString(balance), total_used });
    },
    "GET /v1/generation": (emulatedCall) => {
      requireAccount(emulatedCall, emulatorContext);
      const data = emulatorContext.ledger.generation(emulatedCall.query["id"] ?? "");
      if (data === null) throw notFound("The gateway knows no such generation.");
      return Response.json({ data });
    },
    "GET /v1/report": (emulatedCall) => {
      const { number } = requireAccount(emulatedCall, emulatorContext);
      return Response.json({ results: emulatorContext.ledger.report(number, emulatedCall.query) });
    },
  };
  return withErrors(async (emulatedCall) => {
    const response = (await answerBy(routes, emulatedCall)) ?? findEndpoints(emulatedCall);
    if (response === null) throw notFound("The gateway has no such address.");
    return response;
  }, toErrorResponse);
}

function findEndpoints({ request, path }: Call): Response | null {
  const modelId = /^\/v1\/models\/([^/]+\/[^/]+)\/endpoints$/.exec(path)?.[1];
  if (modelId === undefined || request.method !== "GET") return null;
  return Response.json({ data: endpointEntry(findModel(modelId)) });
}

/** Answers one evaluation (contract section 4.1; the successor's body also names the model). */
async function evaluationRoute(
  emulatedCall: Call,
  wire: "evaluation-model" | "decision-model",
  emulatorContext: EmulatorContext,
): Promise<Response> {
  const admittedCall = checkGatewayCall(emulatedCall, wire, emulatorContext);
  const askedValue = await readJson(emulatedCall);
  const evaluationInput = parseGatewayInput(askedValue, wire);
  if (isOverTokenLimits(evaluationInput))
    throw new RequestError("The state is longer than the model reads.");
  admitCall(admittedCall, emulatorContext);
  const judgement = emulatorContext.answer(evaluationInput);
  const { basis, usage } = judgement;
  const answeredParts = {
    standIn: standInFor(basis),
    usage,
    isStreamed: false,
    body: askedValue,
  };
  const settledCall = settleCall(admittedCall, answeredParts, emulatorContext);
  const model = wire === "decision-model" ? { model: settledCall.routing.canonicalSlug } : {};
  const replyBody = { ...evaluationBody(judgement, settledCall), ...model };
  return answerJson(replyBody, basis);
}

const vendor = "typesafe";

/** Returns the body of an answered evaluation in the gateway's form (contract section 2.3). */
function evaluationBody({ answers, usage, decimals }: Judgement, gatewayMetadata: object) {
  return {
    answers: mapRecord(answers, (judgedAnswer) => toKind(judgedAnswer).toGateway(judgedAnswer)),
    rounding: { probabilityDecimals: decimals, scoreDecimals: decimals },
    usage,
    warnings: [],
    providerMetadata: { ...confidenceBlock(answers), gateway: gatewayMetadata },
  };
}

/** Returns the vendor's metadata; nothing if distributions are answered without a confidence. */
function confidenceBlock(judgedAnswers: Judgement["answers"]) {
  const due = Object.entries(judgedAnswers).filter(
    ([, judgedAnswer]) => toKind(judgedAnswer).isDistribution,
  );
  const confidences = due.filter(([, { confidence }]) => confidence !== null);
  if (due.length > 0 && confidences.length === 0) return {};
  const confidence = Object.fromEntries(
    confidences.map(([id, judgedAnswer]) => [id, judgedAnswer.confidence]),
  );
  return { [vendor]: { confidence } };
}

function toErrorResponse(message: string, statusCode: number): Response {
  const type = statusCode === 500 ? "internal_server_error" : "invalid_request_error";
  return Response.json({ error: { message, type } }, { status: statusCode });
}

function notFound(message: string): RequestError {
  return gatewayError(message, { status: 404, type: "not_found" });
}

// The emulator knows no release dates; every entry has the date of its list.
const listedAt = Date.UTC(2026, 10, 1) / 1000;

/** Returns the models as `GET /v1/models` lists them, prices in US dollars per token (field fact). */
export function modelList() {
  return models.map((catalogModel) => modelEntry(catalogModel));
}

function modelEntry(catalogModel: CatalogModel) {
  return {
    id: catalogModel.id,
    object: "model",
    created: listedAt,
    owned_by: toProvider(catalogModel),
    name: catalogModel.name,
    description: catalogModel.description,
    type: catalogModel.type,
    modalities: { input: ["text"], output: ["text"] },
    context_window: catalogModel.contextWindow,
    max_tokens: catalogModel.maxTokens,
    pricing: tokenPrices(catalogModel),
    // Contract section 1.10 gives it for the evaluation model only.
    ...(catalogModel.type === "evaluation" && dataHandling),
  };
}

/** Returns a model with its endpoints, as `GET /v1/models/{creator}/{model}/endpoints` shows it. */
function endpointEntry(catalogModel: CatalogModel) {
  const { input, output } = tokenPrices(catalogModel);
  return {
    id: catalogModel.id,
    name: catalogModel.name,
    created: listedAt,
    description: catalogModel.description,
    endpoints: [
      {
        provider_name: toProvider(catalogModel),
        context_length: catalogModel.contextWindow,
        pricing: { prompt: input, completion: output },
        supported_parameters: [],
        ...(catalogModel.type === "evaluation" ? dataHandling : noPromise),
        supports_implicit_caching: false,
      },
    ],
  };
}

/** Returns a model as the gateway provider of the `ai` package reads it from `GET /v4/ai/config`. */
function providerEntry(catalogModel: CatalogModel) {
  const { id, name, description, type: modelType } = catalogModel;
  const specification = { specificationVersion: "v4", provider: "gateway", modelId: id };
  return { id, name, description, pricing: tokenPrices(catalogModel), specification, modelType };
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
