const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  404: "invalid_request_error",
  429: "rate_limit_error",
};

/** A failure in OpenAI's form. */
export function openAiError(message: string, status: number) {
  const code = status === 404 ? "model_not_found" : null;
  return { error: { message, type: types[status] ?? "api_error", param: null, code } };
}
