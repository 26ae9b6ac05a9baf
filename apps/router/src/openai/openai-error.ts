/** What an error says beside its message. */
export interface OpenAiErrorParts {
  readonly status: number;
  readonly details?: { readonly param?: string; readonly code?: string };
}

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** A failure in OpenAI's form. */
export function openAiError(message: string, { status, details = {} }: OpenAiErrorParts) {
  const { param = null, code = null } = details;
  const type = types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { error: { message, type, param, code } };
}
