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
export function serviceRoutes(context: EmulatorContext): Side {
  return async (call) => {
    const service = await serviceAt(call);
    if (service === null) return null;
    const answer = withErrors(
      () => answerCall(service, call, context),
      (message, status) => service.toError({ message, status }),
    );
    const response = await answer(call);
    const { requestIdHeader } = service;
    if (requestIdHeader !== undefined) response.headers.set(requestIdHeader, context.nextId());
    return response;
  };
}

// More would be lost where scores are above 1.
const unroundedDecimals = 12;

/** Answers one request. Keys are checked first, as Perplexity does. */
async function answerCall(
  service: Service,
  call: Call,
  context: EmulatorContext,
): Promise<Response> {
  const { picodollarsPerToken, hasEnvelope = false } = service;
  const account = admitAccount(service, call, context);
  const body = await readJson(call);
  checkFields(service, body);
  const askedRequest = service.form(body);
  const model = checkModel(service, askedRequest.model, call);
  checkQuestions(service, askedRequest.input.questions);
  const judgement = context.answer(askedRequest.input, listDecimals(service, model));
  const { basis, usage } = judgement;
  let answeredFields = askedRequest.toBody(judgement, standInFor(basis) ?? model);
  if (picodollarsPerToken !== undefined) {
    const cost = usage.inputTokens * picodollarsPerToken;
    account?.charge(cost);
    answeredFields = withBill(answeredFields, cost / picodollarsPerDollar, context.nextId());
  }
  const envelope = { result: answeredFields, success: true, errors: [], messages: [] };
  return answerJson(hasEnvelope ? envelope : answeredFields, basis);
}

function listDecimals(
  { decimals = unroundedDecimals, roundedModels = "" }: Service,
  model: string,
) {
  return new RegExp(roundedModels).test(model) ? decimals : unroundedDecimals;
}

/** Returns the account of the key, null without one. @throws {RequestError} 401 or 402. */
function admitAccount(service: Service, call: Call, { accounts }: EmulatorContext) {
  const account = accounts.find(callKey(call));
  if (account === null && accounts.isRestricted) {
    const problem = { status: 401, message: "Incorrect API key provided." };
    const response = service.toError({ ...problem, isKeyWrong: true });
    throw new RequestError(problem.message, response.status, response);
  }
  if (service.picodollarsPerToken !== undefined && account !== null && account.balance <= 0) {
    throw new RequestError("Insufficient credits.", 402);
  }
  if (call.request.method !== "POST") throw new RequestError("Use POST.", 405);
  return account;
}

function withBill(body: object, cost: number, id: string): object {
  const { usage } = body as { usage: object };
  return { id: `gen-${id}`, provider: "Emulator", ...body, usage: { ...usage, cost } };
}

function checkFields({ fields }: Service, body: unknown): void {
  if (fields === undefined || !isJsonRecord(body)) return;
  const unknown = Object.keys(body).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw new RequestError(`Unknown field: ${unknown}`);
}

/** Returns the model that is asked. @throws {RequestError} 404 for an unknown one. */
function checkModel(service: Service, model: string | null, { path }: Call): string {
  const requestedModel = service.hasPathModel ? (path.split("/").at(-1) ?? "") : model;
  if (requestedModel === null) throw new RequestError("model is required.");
  if (!new RegExp(service.models).test(requestedModel))
    throw new RequestError("Model not found.", 404);
  if (model !== null && model !== requestedModel)
    throw new RequestError("model is not that of the path.");
  return requestedModel;
}

/** @throws {RequestError} names the question that the service does not take. */
function checkQuestions(service: Service, all: Readonly<Record<string, QuestionInput>>): void {
  const { limits, ids, needsInstructions = false, needsBothMeanings = false } = service;
  const questions = Object.entries(all);
  checkCount("questions", questions.length, limits["questions"]);
  for (const [id, question] of questions) {
    const { type, instructions, criteria } = question;
    const names = toKind(question).namesOf(question);
    const where = `questions.${id}`;
    if (toKind(question).needsImage) throw new RequestError(`${where}.type: unknown`);
    checkCount(where, names.length, limits[type as keyof typeof limits]);
    // Names of options are input to the model, and any text.
    if (ids !== undefined && !new RegExp(ids).test(id)) {
      throw new RequestError(`${where}: ids match ${ids}`);
    }
    if (needsInstructions && instructions === null) {
      throw new RequestError(`${where}.instructions: required`);
    }
    const meanings = toKind(question).isDistribution ? [] : Object.values(criteria);
    if (needsBothMeanings && new Set(meanings.map((meaning) => meaning === null)).size > 1) {
      throw new RequestError(`${where}.criteria: describe both outcomes or none`);
    }
  }
}

function checkCount(where: string, count: number, limit?: readonly number[]): void {
  const [least = 0, most = Number.POSITIVE_INFINITY] = limit ?? [];
  if (count >= least && count <= most) return;
  throw new RequestError(`${where}: expected ${least} to ${most}, not ${count}`);
}
