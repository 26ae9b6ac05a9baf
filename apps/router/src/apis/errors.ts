import type { Context, Env, Hono, HonoRequest } from "hono";
import {
  AuthenticationError,
  EvaluatorError,
  RateLimitError,
  TimeoutError,
} from "evaluator-client";
import { methodNotAllowed } from "hono/method-not-allowed";
import { getPath } from "hono/utils/url";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { defectMessage, HttpError } from "../http-error.ts";
import type { Api } from "./api.ts";
import { chatApi } from "./chat/chat-api.ts";
import { messagesApi } from "./messages/messages-api.ts";
import { responsesApi } from "./responses/responses-api.ts";
import { UnfitCalibrationError } from "../decision/decide.ts";
import type { EvaluationForm } from "../evaluations/evaluation-form.ts";
import { evaluationForms } from "../evaluations/evaluation-forms.ts";
import { failurePage } from "../page/failure-page.ts";
import type { Redact } from "../reply/redactor.ts";

/** The APIs that clients speak. */
export const apis: readonly Api[] = [chatApi, responsesApi, messagesApi];

/** Returns a request's path, without what base URLs of other services add to the path of an API. */
export function toApiPath(request: Request): string {
  const path = getPath(request);
  const plain = path
    .replaceAll(/\/{2,}/g, "/")
    .replace(/^\/(?:api|openai|anthropic)(?=\/(?:v1|alpha)\/)/, "")
    .replace(/^\/(?:v1beta|alpha)(?=\/decisions\/?$)/, "/v1");
  return plain.startsWith("/v1/") ? plain.replace(/\/$/, "") : path;
}

/** Answers unknown paths and methods, HTTP errors, failed evaluations and defects. */
export function addFailureRoutes<TEnv extends Env>(
  app: Hono<TEnv>,
  { redact, reportDefect }: { redact: Redact; reportDefect: (error: Error) => void },
): void {
  app.use(responsesApi.path, async (c, next) => {
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") return next();
    const headers = { Upgrade: "HTTP/1.1", Connection: "Upgrade" };
    throw new HttpError(426, "This router has no websockets; POST the request.", { headers });
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed(_c, methods) {
        const headers = { Allow: methods.join(", ") };
        throw new HttpError(405, `Use ${methods.join(" or ")} here.`, { headers });
      },
    }),
  );
  app.notFound((c) => {
    const message = describeApiPath(c.req.path) ?? "There is nothing here; the page is at /.";
    return send(c, new HttpError(404, message));
  });
  app.onError((thrown, c: Context) => {
    const clientSignal = c.get("clientSignal") as AbortSignal;
    if (clientSignal.aborted) return new Response(null, { status: 499 }); // the client is gone
    if (thrown instanceof HttpError) return send(c, thrown);
    if (thrown instanceof UnfitCalibrationError || thrown instanceof EvaluatorError) {
      return send(c, toHttpError(thrown, redact));
    }
    reportDefect(thrown);
    return send(c, new HttpError(500, defectMessage));
  });
}

/** A rejected key is the router's fault, not its client's. */
function toHttpError(error: EvaluatorError | UnfitCalibrationError, redact: Redact): HttpError {
  const message = redact.strictly(error.message);
  const once = { retryAfter: null };
  if (error instanceof TimeoutError) return new HttpError(504, message, once);
  if (error instanceof RateLimitError) {
    const { retryAfterMs } = error;
    const retryAfter = retryAfterMs === null ? null : String(Math.ceil(retryAfterMs / 1000));
    return new HttpError(429, message, { retryAfter });
  }
  if (error instanceof AuthenticationError && !error.needsPaidCredits) {
    const rejected = `The evaluation service refused this router's key. ${message}`;
    return new HttpError(502, rejected, once);
  }
  return new HttpError(502, message, once);
}

function send(c: Context, { message, status: given, details }: HttpError): Response {
  const { headers, retryAfter } = details;
  if (retryAfter === null) c.header("x-should-retry", "false");
  else if (retryAfter !== undefined) c.header("Retry-After", retryAfter);
  if (isNavigation(c.req)) {
    return c.html(failurePage(given, message), given as ContentfulStatusCode, headers);
  }
  const api = apiOf(c.req);
  const isOfField = details.path !== undefined && api !== null && "fieldStatus" in api;
  // 529 is Anthropic's own status.
  const status = isOfField
    ? (api.fieldStatus ?? given)
    : given === 529 && api !== messagesApi
      ? 503
      : given;
  const body = api?.error?.(message, status, details) ?? { error: message };
  return c.json(body, status as ContentfulStatusCode, headers);
}

/** Whether a browser shows the answer to a person. */
function isNavigation(request: HonoRequest): boolean {
  return request.method === "GET" && request.header("sec-fetch-mode") === "navigate";
}

/** Returns the API whose form an error has; null outside of them. */
function apiOf(request: HonoRequest): Api | EvaluationForm | null {
  const path = rightPath(request.path) ?? request.path;
  const form = evaluationForms.find((each) => each.path === path);
  if (form !== undefined) return form.error === undefined ? chatApi : form;
  if (!path.startsWith("/v1/")) return null;
  const isMessages = path.startsWith("/v1/models")
    ? request.header("anthropic-version") !== undefined
    : path.startsWith(messagesApi.path);
  return isMessages ? messagesApi : chatApi;
}

/** Describes an unknown path of the APIs, which often is a wrong base URL; null for another path. */
function describeApiPath(path: string): string | null {
  const right = rightPath(path);
  const wrong = `There is nothing at this address; use ${right}: the base URL decides.`;
  if (right !== null) return wrong;
  if (!path.startsWith("/v1/")) return null;
  const forms = evaluationForms.filter((form) => form.path.startsWith("/v1/"));
  const paths = [...apis, ...forms].map((api) => `POST ${api.path}`);
  return `There is no such path in this API; use GET /v1/models, ${paths.join(", ")}.`;
}

/** Returns the address that a path with too few or too many versions means. */
function rightPath(path: string): string | null {
  const meant = "/v1" + path.replace(/^(?:\/v1)+/, "");
  const posted = [...apis, ...evaluationForms].map((api) => api.path);
  const known = [...posted, `${messagesApi.path}/count_tokens`, "/v1/models"];
  return meant !== path && known.includes(meant) ? meant : null;
}
