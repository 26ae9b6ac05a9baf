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
import type { QuestionInput } from "../questions/kinds/kinds.ts";
import { kindOf } from "../questions/kinds/kinds.ts";
import { RequestError } from "../request-error.ts";
import type { AskedCall } from "./form.ts";
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
    if (service.requestIdHeader !== undefined) {
      response.headers.set(service.requestIdHeader, context.nextId());
    }
    return response;
  };
}

/** Answers one request. Keys are checked first, as Perplexity does. */
async function answerCall(
  service: Service,
  call: Call,
  context: EmulatorContext,
): Promise<Response> {
  const account = admitAccount(service, call, context);
  if (call.request.method !== "POST") throw new RequestError("Use POST.", 405);
  const body = await readJson(call);
  checkFields(service, body);
  const asked = service.form(body);
  const model = checkModel(service, asked, call);
  checkQuestions(service, asked.input.questions);
  const judgement = context.answer(asked.input, service.decimals);
  const answered = asked.toBody(judgement, standInFor(judgement.basis) ?? model);
  const cost = judgement.usage.inputTokens * (service.tokenPrice ?? 0);
  account?.charge(cost);
  const priced = service.tokenPrice === undefined ? answered : withCost(answered, cost);
  const whole = service.toBody?.(priced, context.nextId()) ?? priced;
  return answerJson(whole, judgement.basis);
}

/** Returns the account of the key, null without one. @throws {RequestError} 401 or 402. */
function admitAccount(service: Service, call: Call, { accounts }: EmulatorContext) {
  const account = accounts.find(callKey(call));
  if (account === null && accounts.isRestricted) {
    const problem = { status: 401, message: "The API key is missing or not valid." };
    const response = service.toError({ ...problem, isKeyWrong: true });
    throw new RequestError(problem.message, response.status, response);
  }
  if (service.tokenPrice !== undefined && account !== null && account.balance <= 0) {
    throw new RequestError("Insufficient credits.", 402);
  }
  return account;
}

function withCost(body: object, cost: number): object {
  const { usage } = body as { usage: object };
  return { ...body, usage: { ...usage, cost: cost / picodollarsPerDollar } };
}

function checkFields({ fields }: Service, body: unknown): void {
  if (fields === undefined || !isJsonRecord(body)) return;
  const unknown = Object.keys(body).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw new RequestError(`Unknown field: ${unknown}`);
}

/** Returns the model that is asked. @throws {RequestError} 404 for an unknown one. */
function checkModel({ models, pathModel }: Service, { model }: AskedCall, { path }: Call): string {
  const named = pathModel?.exec(path)?.[0] ?? model;
  if (named === null) throw new RequestError("model is required.");
  if (!models.test(named)) throw new RequestError("Model not found.", 404);
  if (model !== null && model !== named) throw new RequestError("model is not that of the path.");
  return named;
}

/** @throws {RequestError} names the limit that the questions break. */
function checkQuestions(
  service: Service,
  questions: Readonly<Record<string, QuestionInput>>,
): void {
  const { limits, ids, needsInstructions = false, needsBothMeanings = false } = service;
  const entries = Object.entries(questions);
  checkCount("questions", entries.length, limits.questions);
  for (const [id, question] of entries) {
    const { type, instructions, criteria } = question;
    const names = kindOf(question).namesOf(question);
    const where = `questions.${id}`;
    if (ids !== undefined && ![id, ...names].every((name) => ids.test(name))) {
      throw new RequestError(`${where}: ids match ${ids.source}`);
    }
    if (needsInstructions && instructions === null) {
      throw new RequestError(`${where}.instructions: required`);
    }
    if (type in limits) checkCount(where, names.length, limits[type as "choice" | "score"]);
    const meanings = kindOf(question).isDistribution ? [] : Object.values(criteria);
    if (needsBothMeanings && new Set(meanings.map((meaning) => meaning === null)).size > 1) {
      throw new RequestError(`${where}.criteria: describe both outcomes or none`);
    }
  }
}

function checkCount(where: string, count: number, [least, most]: readonly [number, number]): void {
  if (count >= least && count <= most) return;
  throw new RequestError(`${where}: expected ${least} to ${most}, not ${count}`);
}
