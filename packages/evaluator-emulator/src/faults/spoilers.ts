import type { Call } from "../call.ts";
import { isEventStream } from "../deliver-by-fetch.ts";
import { isJsonRecord, mapRecord } from "../json.ts";
import { type Service, serviceAt } from "../services/services.ts";
import type { Fault } from "./fault.ts";

type Body = Readonly<Record<string, unknown>>;

const spoilers = {
  "wrong-sums": (replyBody: Body) =>
    mapAnswers(replyBody, (idAnswers) =>
      idAnswers.map(([id, answer]) => [id, mapRecord(answer, spoilField)] as const),
    ),
  "missing-answer": (replyBody: Body) => mapAnswers(replyBody, (idAnswers) => idAnswers.slice(1)),
  refusal: (replyBody: Body, modelService: Service | null) =>
    refuseBody(replyBody, modelService) ??
    mapAnswers(replyBody, (idAnswers) => idAnswers.map(refuse)),
  "first-refusal": (replyBody: Body, modelService: Service | null) =>
    refuseBody(replyBody, modelService) ??
    mapAnswers(replyBody, ([first, ...others]) =>
      first === undefined ? others : [refuse(first), ...others],
    ),
  "cut-state": ({ usage, ...body }: Body) => {
    return { ...body, usage: { ...(usage as object), truncated: true, state_tokens_dropped: 100 } };
  },
  "answers-only": ({ answers, model }: Body) => {
    return { answers, ...(model !== undefined && { model }) };
  },
};

/** Returns whether a fault changes the body of an answer. */
export function isSpoiler(kind: Fault["kind"]): kind is keyof typeof spoilers {
  return Object.hasOwn(spoilers, kind);
}

/** Spoils the body of an answer, or the result in Cloudflare's. */
export async function spoilResponse(
  response: Response,
  kind: keyof typeof spoilers,
  emulatedCall: Call,
): Promise<Response> {
  if (response.status !== 200 || isEventStream(response)) return response;
  const whole = (await response.json()) as Body;
  const modelService = await serviceAt(emulatedCall);
  const { result } = whole;
  const spoilt = isJsonRecord(result)
    ? { ...whole, result: spoilers[kind](result, modelService) }
    : spoilers[kind](whole, modelService);
  return new Response(JSON.stringify(spoilt), response);
}

type IdAnswer = readonly [id: string, answer: Body];

/** Changes the answers, whose ids are positions in a list. */
function mapAnswers(
  replyBody: Body,
  change: (idAnswers: readonly IdAnswer[]) => readonly IdAnswer[],
) {
  const { answers } = replyBody as { answers: object };
  const changedIdAnswers = change(Object.entries(answers));
  const isList = Array.isArray(answers);
  return {
    ...replyBody,
    answers: isList ? changedIdAnswers.map(([, one]) => one) : Object.fromEntries(changedIdAnswers),
  };
}

function refuseBody(
  { answers: _answers, ...body }: Body,
  modelService: Service | null,
): object | null {
  return modelService?.refusal === undefined ? null : { ...body, ...modelService.refusal };
}

/** Keeps the name, which answers of a list have. */
function refuse([id, { name }]: IdAnswer): IdAnswer {
  return [id, { type: "refusal", ...(name !== undefined && { name }) }];
}

/** Changes probabilities so that they do not sum to 1, and that of a yes/no question is above 1. */
function spoilField(value: unknown, fieldName: string): unknown {
  if (fieldName === "probabilities" && (isJsonRecord(value) || Array.isArray(value))) {
    const probability = Object.keys(value).length === 1 ? 0.5 : 1;
    return Array.isArray(value)
      ? value.map((option: object) => ({ ...option, probability }))
      : mapRecord(value, () => probability);
  }
  return fieldName === "probability" || fieldName === "noul" ? 1.5 : value;
}
