/** A failed call, before a service gives it its own body. */
export interface Problem {
  readonly status: number;
  readonly message: string;
  /** Seconds to wait. */
  readonly retryAfter?: number | undefined;
  /** Whether the credit or the day's allowance is used up, which no waiting ends. */
  readonly isExhausted?: boolean;
  /** Whether the key is missing or wrong. */
  readonly isKeyWrong?: boolean;
}

/** Returns the response to a failed call. */
export type ToError = (problem: Problem) => Response;

function respond(body: object, { status, retryAfter }: Problem): Response {
  const headers = new Headers();
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  return Response.json(body, { status, headers });
}

/** OpenAI's codes (its reference of errors). */
const openAiCodes: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  404: "model_not_found",
  429: "rate_limit_exceeded",
};

function openAiType({ status, isExhausted = false }: Problem): string {
  if (isExhausted) return "insufficient_quota";
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** OpenAI's body. */
export const openAiError: ToError = (problem) => {
  const type = openAiType(problem);
  const code = problem.isExhausted ? type : (openAiCodes[problem.status] ?? null);
  return respond({ error: { message: problem.message, type, param: null, code } }, problem);
};

/** The body of Perplexity, and in third parties' tests of Fireworks: a code is a number or null. */
export const plainError: ToError = (problem) => {
  const { status, message } = problem;
  const code = status === 401 ? status : null;
  return respond({ error: { message, type: openAiType(problem), code, param: null } }, problem);
};

/** Names of statuses (google.rpc.Code). */
const googleStatuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function detail(type: string, fields: object) {
  return { "@type": `type.googleapis.com/google.rpc.${type}`, ...fields };
}

/** Google's body; the time to wait is in it and in no header, and a wrong key is a 400. */
export const googleError: ToError = (problem) => {
  const { message, retryAfter, isExhausted = false, isKeyWrong = false } = problem;
  const status = isKeyWrong ? 400 : problem.status;
  const details = [
    isKeyWrong && detail("ErrorInfo", { reason: "API_KEY_INVALID", domain: "googleapis.com" }),
    isExhausted && detail("QuotaFailure", { violations: [{ quotaId: "RequestsPerDay" }] }),
    retryAfter !== undefined && detail("RetryInfo", { retryDelay: `${retryAfter}s` }),
  ].filter(Boolean);
  const fallback = status >= 500 ? "INTERNAL" : "FAILED_PRECONDITION";
  const name = googleStatuses[status] ?? fallback;
  return respond({ error: { code: status, message, status: name, details } }, { status, message });
};

/** OpenRouter's body. */
export const openRouterError: ToError = (problem) => {
  const { message, retryAfter, isExhausted = false } = problem;
  const status = isExhausted ? 402 : problem.status;
  const metadata = retryAfter !== undefined && { retry_after_seconds: retryAfter };
  const error = { code: status, message, ...(metadata && { metadata }) };
  return respond({ error, user_id: null }, { ...problem, status });
};

/** Codes of Workers AI (its list of errors); a 5xx of the model has 5012 (third parties' clients). */
const cloudflareCodes: Readonly<Record<number, number>> = {
  400: 5006,
  401: 10_000,
  403: 10_000,
  404: 5007,
  408: 3007,
  413: 3006,
  429: 3040,
};

/** Cloudflare's body. */
export const cloudflareError: ToError = (problem) => {
  const code = problem.isExhausted ? 4006 : (cloudflareCodes[problem.status] ?? 5012);
  const errors = [{ code, message: problem.message }];
  return respond({ result: null, success: false, errors, messages: [] }, problem);
};
