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
export type ToError = (serviceProblem: Problem) => Response;

/** The errors of the gateway, the vendor and each service. */
export const errorBodies = {
  gateway: ({ isExhausted = false, ...problem }) => {
    // An account without credits gets 402, whatever another service's status would be.
    const statusCode = isExhausted ? 402 : problem.status;
    const type = findCode("gateway", { ...problem, status: statusCode }) ?? "internal_server_error";
    return respond(
      { error: { message: problem.message, type } },
      { ...problem, status: statusCode },
    );
  },
  vendor: (serviceProblem) => respond({ detail: serviceProblem.message }, serviceProblem),
  openai: (serviceProblem) => {
    const type = openAiType(serviceProblem);
    const code = serviceProblem.isExhausted ? type : findCode("openai", serviceProblem);
    return respond(
      { error: { message: serviceProblem.message, type, param: null, code } },
      serviceProblem,
    );
  },
  // Perplexity's, and in third parties' tests that of Fireworks: a code is a number or null.
  plain: (serviceProblem) => {
    const { status, message } = serviceProblem;
    const code = status === 401 ? status : null;
    return respond(
      { error: { message, type: openAiType(serviceProblem), code, param: null } },
      serviceProblem,
    );
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
  openrouter: (serviceProblem) => {
    const { message, retryAfter, isExhausted = false } = serviceProblem;
    const code = isExhausted ? 402 : serviceProblem.status;
    const metadata = retryAfter !== undefined && { retry_after_seconds: retryAfter };
    const error = { code, message, ...(metadata && { metadata }) };
    return respond({ error, user_id: null }, { ...serviceProblem, status: code });
  },
  // Codes of Workers AI's list; 5012 stands for a failure of the model (third parties' clients).
  cloudflare: (serviceProblem) => {
    const code = serviceProblem.isExhausted
      ? 4006
      : (findCode("cloudflare", serviceProblem) ?? 5012);
    const errors = [{ code, message: serviceProblem.message }];
    return respond({ result: null, success: false, errors, messages: [] }, serviceProblem);
  },
} satisfies Record<string, ToError>;

function respond(errorBody: object, { status, retryAfter }: Problem): Response {
  const headers = new Headers();
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  return Response.json(errorBody, { status, headers });
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
