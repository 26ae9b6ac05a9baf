import { GatewayError } from "../gateway/gateway-error.ts";
import { isJsonRecord, mapRecord } from "../json.ts";
import { isVendorPath, VendorError } from "../vendor/vendor-error.ts";
import type { AnswerFault } from "./fault.ts";

type Answers = Record<string, Record<string, unknown>>;

const spoilers: Readonly<Record<AnswerFault["kind"], (answers: Answers) => Answers>> = {
  "wrong-sums": (answers) => mapRecord(answers, (answer) => mapRecord(answer, spoilField)),
  "missing-answer": (answers) => Object.fromEntries(Object.entries(answers).slice(1)),
  refusal: (answers) => mapRecord(answers, () => ({ type: "refusal" })),
};

/**
 * Spoils the answers of an evaluation, whichever wire it leaves by: probabilities that do not sum
 * to 1 (above 1 for a yes/no question), the first answer missing, or every answer a refusal.
 */
export async function spoilAnswers(
  response: Response,
  kind: AnswerFault["kind"],
): Promise<Response> {
  if (response.status !== 200 || isEventStream(response)) return response;
  const body = (await response.json()) as { answers: Answers };
  const text = JSON.stringify({ ...body, answers: spoilers[kind](body.answers) });
  return new Response(text, response);
}

function spoilField(value: unknown, name: string): unknown {
  if (name === "probabilities" && isJsonRecord(value)) {
    const isAlone = Object.keys(value).length === 1;
    return mapRecord(value, () => (isAlone ? 0.5 : 1));
  }
  return name === "probability" || name === "noul" ? 1.5 : value;
}

/**
 * Returns a body that is whole but no JSON: its last character, or the end of every event, lacks.
 */
export async function malformJson(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const text = await response.text();
  const spoilt = isEventStream(response) ? text.replaceAll("}\n\n", "\n\n") : text.slice(0, -1);
  return new Response(spoilt, response);
}

/** Returns the page that something between the caller and the service might answer with. */
export function htmlPage(status: number): Response {
  const page = "<!doctype html><title>Bad gateway</title><h1>Something in between answered</h1>\n";
  return new Response(page, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

const message = "The emulator was asked for this error.";

const gatewayTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "insufficient_funds",
  403: "forbidden",
  404: "not_found",
  424: "failed_dependency",
  429: "rate_limit_exceeded",
};

/** What a side says with a status that was asked for. */
interface AskedStatus {
  readonly status: number;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
}

/** Returns a response with the asked status, in the error shape of the side that owns the path. */
export function statusResponse({ status, retryAfter }: AskedStatus, path: string): Response {
  const { headers, body } = isVendorPath(path) ? vendorError(status) : gatewayError(status);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  // The one status from 300 up with which a Response cannot be made with a body.
  return new Response(status === 304 ? null : body, { status, headers });
}

function vendorError(status: number): Response {
  const response = new VendorError(status === 304 ? 400 : status, message).toResponse();
  response.headers.set("x-typesafe-request-id", "req_ASKEDFORBYTHEEMULATOR");
  return response;
}

function gatewayError(status: number): Response {
  const type = gatewayTypes[status] ?? "internal_server_error";
  return new GatewayError(message, { status: status === 304 ? 400 : status, type }).toResponse();
}

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type") === "text/event-stream";
}
