import codes from "./error-codes.json" with { type: "json" };

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

/** The errors of the gateway, the vendor and each service. */
export const errorBodies = {
  gateway: ({ isExhausted = false, ...problem }) => {
    // An account without credits gets 402, whatever another service's status would be.
    const status = isExhausted ? 402 : problem.status;
    const type = findCode("gateway", { ...problem, status }) ?? "internal_server_error";
    return respond({ error: { message: problem.message, type } }, { ...problem, status });
  },
  vendor: (problem) => respond({ detail: problem.message }, problem),
  openai: (problem) => {
    const type = openAiType(problem);
    const code = problem.isExhausted ? type : findCode("openai", problem);
    return respond({ error: { message: problem.message, type, param: null, code } }, problem);
  },
  // Perplexity's, and in third parties' tests that of Fireworks: a code is a number or null.
  plain: (problem) => {
    const { status, message } = problem;
    const code = status === 401 ? status : null;
    return respond({ error: { message, type: openAiType(problem), code, param: null } }, problem);
  },
  google: ({ retryAfter, isExhausted = false, isKeyWrong = false, ...problem }) => {
    // The time to wait is in the body and in no header, and a wrong key is a 400.
    const code = isKeyWrong ? 400 : problem.status;
    const status = findCode("google", { ...problem, status: code }) ?? "UNKNOWN";
    const details = [
      isKeyWrong && detail("ErrorInfo", { reason: "API_KEY_INVALID" }),
      isExhausted && detail("QuotaFailure", { violations: [{ quotaId: "RequestsPerDay" }] }),
      retryAfter !== undefined && detail("RetryInfo", { retryDelay: `${retryAfter}s` }),
    ].filter(Boolean);
    const error = { code, message: problem.message, status, details };
    return respond({ error }, { ...problem, status: code });
  },
  openrouter: (problem) => {
    const { message, retryAfter, isExhausted = false } = problem;
    const code = isExhausted ? 402 : problem.status;
    const metadata = retryAfter !== undefined && { retry_after_seconds: retryAfter };
    const error = { code, message, ...(metadata && { metadata }) };
    return respond({ error, user_id: null }, { ...problem, status: code });
  },
  // Codes of Workers AI's list; 5012 stands for a failure of the model (third parties' clients).
  cloudflare: (problem) => {
    const code = problem.isExhausted ? 4006 : (findCode("cloudflare", problem) ?? 5012);
    const errors = [{ code, message: problem.message }];
    return respond({ result: null, success: false, errors, messages: [] }, problem);
  },
} satisfies Record<string, ToError>;

function respond(body: object, { status, retryAfter }: Problem): Response {
  const headers = new Headers();
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  return Response.json(body, { status, headers });
}

function openAiType({ status, isExhausted = false }: Problem): string {
  if (isExhausted) return "insufficient_quota";
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function findCode(list: keyof typeof codes, { status }: Problem): string | number | null {
  return (codes[list] as Record<string, string | number>)[status] ?? null;
}

function detail(type: string, fields: object) {
  return { "@type": `type.googleapis.com/google.rpc.${type}`, ...fields };
}
