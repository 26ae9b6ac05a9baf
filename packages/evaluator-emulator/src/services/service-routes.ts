import { answerJson, standInFor } from "../answers/judgement.ts";
import {
  type Call,
  callKey,
  type EmulatorContext,
  readJson,
  type Side,
  withErrors,
} from "../call.ts";
import { picodollarsPerDollar } from "../catalog.ts";
import { isJsonRecord } from "../json.ts";
import { toKind, type QuestionInput } from "../questions/kinds/kinds.ts";
import { RequestError } from "../request-error.ts";
import { type Service, serviceAt } from "./services.ts";

/** Returns the decision services at one address; each call's path, key or body names its service. */
export function serviceRoutes(emulatorContext: EmulatorContext): Side {
  return async (emulatedCall) => {
    const modelService = await serviceAt(emulatedCall);
    if (modelService === null) return null;
    const answer = withErrors(
      () => answerCall(modelService, emulatedCall, emulatorContext),
      (message, statusCode) => modelService.toError({ message, status: statusCode }),
    );
    const response = await answer(emulatedCall);
    const { requestIdHeader } = modelService;
    if (requestIdHeader !== undefined)
      response.headers.set(requestIdHeader, emulatorContext.nextId());
    return response;
  };
}

// More would be lost where scores are above 1.
const unroundedDecimals = 12;

/** Answers one request. Keys are checked first, as Perplexity does. */
async function answerCall(
  modelService: Service,
  emulatedCall: Call,
  emulatorContext: EmulatorContext,
): Promise<Response> {
  const { picodollarsPerToken, hasEnvelope = false } = modelService;
  const callerAccount = admitAccount(modelService, emulatedCall, emulatorContext);
  const requestBody = await readJson(emulatedCall);
  checkFields(modelService, requestBody);
  const askedRequest = modelService.form(requestBody);
  const modelId = checkModel(modelService, askedRequest.model, emulatedCall);
  checkQuestions(modelService, askedRequest.input.questions);
  const judgement = emulatorContext.answer(askedRequest.input, listDecimals(modelService, modelId));
  const { basis, usage } = judgement;
  let answeredFields = askedRequest.toBody(judgement, standInFor(basis) ?? modelId);
  if (picodollarsPerToken !== undefined) {
    const cost = usage.inputTokens * picodollarsPerToken;
    callerAccount?.charge(cost);
    answeredFields = withBill(
      answeredFields,
      cost / picodollarsPerDollar,
      emulatorContext.nextId(),
    );
  }
  const envelope = { result: answeredFields, success: true, errors: [], messages: [] };
  return answerJson(hasEnvelope ? envelope : answeredFields, basis);
}

function listDecimals(
  { decimals = unroundedDecimals, roundedModels = "" }: Service,
  modelId: string,
) {
  return new RegExp(roundedModels).test(modelId) ? decimals : unroundedDecimals;
}

/** Returns the account of the key, null without one. @throws {RequestError} 401 or 402. */
function admitAccount(modelService: Service, emulatedCall: Call, { accounts }: EmulatorContext) {
  const callerAccount = accounts.find(callKey(emulatedCall));
  if (callerAccount === null && accounts.isRestricted) {
    const problem = { status: 401, message: "Incorrect API key provided." };
    const response = modelService.toError({ ...problem, isKeyWrong: true });
    throw new RequestError(problem.message, response.status, response);
  }
  if (
    modelService.picodollarsPerToken !== undefined &&
    callerAccount !== null &&
    callerAccount.balance <= 0
  ) {
    throw new RequestError("Insufficient credits.", 402);
  }
  if (emulatedCall.request.method !== "POST") throw new RequestError("Use POST.", 405);
  return callerAccount;
}

function withBill(replyBody: object, cost: number, generationId: string): object {
  const { usage } = replyBody as { usage: object };
  return {
    id: `gen-${generationId}`,
    provider: "Emulator",
    ...replyBody,
    usage: { ...usage, cost },
  };
}

function checkFields({ fields }: Service, requestBody: unknown): void {
  if (fields === undefined || !isJsonRecord(requestBody)) return;
  const unknown = Object.keys(requestBody).find((fieldName) => !fields.includes(fieldName));
  if (unknown !== undefined) throw new RequestError(`Unknown field: ${unknown}`);
}

/** Returns the model that is asked. @throws {RequestError} 404 for an unknown one. */
function checkModel(modelService: Service, modelId: string | null, { path }: Call): string {
  const requestedModel = modelService.hasPathModel ? (path.split("/").at(-1) ?? "") : modelId;
  if (requestedModel === null) throw new RequestError("model is required.");
  if (!new RegExp(modelService.models).test(requestedModel))
    throw new RequestError("Model not found.", 404);
  if (modelId !== null && modelId !== requestedModel)
    throw new RequestError("model is not that of the path.");
  return requestedModel;
}

/** @throws {RequestError} names the question that the service does not take. */
function checkQuestions(modelService: Service, all: Readonly<Record<string, QuestionInput>>): void {
  const { limits, ids, needsInstructions = false, needsBothMeanings = false } = modelService;
  const questions = Object.entries(all);
  checkCount("questions", questions.length, limits["questions"]);
  for (const [id, questionInput] of questions) {
    const { type, instructions, criteria } = questionInput;
    const names = toKind(questionInput).namesOf(questionInput);
    const fieldPlace = `questions.${id}`;
    if (toKind(questionInput).needsImage) throw new RequestError(`${fieldPlace}.type: unknown`);
    checkCount(fieldPlace, names.length, limits[type as keyof typeof limits]);
    // Names of options are input to the model, and any text.
    if (ids !== undefined && !new RegExp(ids).test(id)) {
      throw new RequestError(`${fieldPlace}: ids match ${ids}`);
    }
    if (needsInstructions && instructions === null) {
      throw new RequestError(`${fieldPlace}.instructions: required`);
    }
    const meanings = toKind(questionInput).isDistribution ? [] : Object.values(criteria);
    if (needsBothMeanings && new Set(meanings.map((meaning) => meaning === null)).size > 1) {
      throw new RequestError(`${fieldPlace}.criteria: describe both outcomes or none`);
    }
  }
}

function checkCount(fieldPlace: string, count: number, limit?: readonly number[]): void {
  const [least = 0, most = Number.POSITIVE_INFINITY] = limit ?? [];
  if (count >= least && count <= most) return;
  throw new RequestError(`${fieldPlace}: expected ${least} to ${most}, not ${count}`);
}
