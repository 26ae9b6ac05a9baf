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
import { apiOfClient, apis } from "./apis.ts";
import { openAiError } from "./openai-form.ts";
import { UnfitCalibrationError } from "../decision/decide.ts";
import { evaluationForms } from "../evaluations/evaluation-forms.ts";
import { failurePage } from "../page/failure-page.ts";
import type { Redact } from "../reply/redactor.ts";

/** Returns a request's path, without what base URLs of other services add to the path of an API. */
export function toApiPath(request: Request): string {
  const requestPath = getPath(request);
  const plainPath = requestPath
    .replaceAll(/\/{2,}/g, "/")
    .replace(/^\/(?:api|openai|anthropic)(?=\/(?:v1|alpha)\/)/, "")
    .replace(/^\/(?:v1beta|alpha)(?=\/decisions\/?$)/, "/v1");
  return plainPath.startsWith("/v1/") ? plainPath.replace(/\/$/, "") : requestPath;
}

/** Answers unknown paths and methods, HTTP errors, failed evaluations and defects. */
export function addFailureRoutes<TEnv extends Env>(
  app: Hono<TEnv>,
  { redact, reportDefect }: { redact: Redact; reportDefect: (error: Error) => void },
): void {
  for (const { path } of apis) {
    app.use(path, async (c, next) => {
      if (c.req.header("upgrade")?.toLowerCase() !== "websocket") return next();
      const headers = { Upgrade: "HTTP/1.1", Connection: "Upgrade" };
      throw new HttpError(426, "This router has no websockets; POST the request.", { headers });
    });
  }
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
  app.onError((thrownError, c: Context) => {
    const clientSignal = c.get("clientSignal") as AbortSignal;
    if (clientSignal.aborted) return new Response(null, { status: 499 }); // the client is gone
    if (thrownError instanceof HttpError) return send(c, thrownError);
    if (thrownError instanceof UnfitCalibrationError || thrownError instanceof EvaluatorError) {
      return send(c, toHttpError(thrownError, redact));
    }
    reportDefect(thrownError);
    return send(c, new HttpError(500, defectMessage));
  });
}

/** A rejected key is the router's fault, not its client's. */
function toHttpError(error: EvaluatorError | UnfitCalibrationError, redact: Redact): HttpError {
  const message = redact.strictly(error.message);
  const noRetry = { retryAfter: null };
  if (error instanceof TimeoutError) return new HttpError(504, message, noRetry);
  if (error instanceof RateLimitError) {
    const { retryAfterMs } = error;
    const retryAfter = retryAfterMs === null ? null : String(Math.ceil(retryAfterMs / 1000));
    return new HttpError(429, message, { retryAfter });
  }
  if (error instanceof AuthenticationError && !error.needsPaidCredits) {
    const keyProblem = `The evaluation service refused this router's key. ${message}`;
    return new HttpError(502, keyProblem, noRetry);
  }
  return new HttpError(502, message, noRetry);
}

function send(c: Context, { message, status: errorStatus, details }: HttpError): Response {
  const { headers, retryAfter } = details;
  if (retryAfter === null) c.header("x-should-retry", "false");
  else if (retryAfter !== undefined) c.header("Retry-After", retryAfter);
  if (isNavigation(c.req)) {
    return c.html(failurePage(errorStatus, message), errorStatus as ContentfulStatusCode, headers);
  }
  const { fieldStatus, overloadedStatus, error } = errorForm(c.req);
  const isOfField = details.path !== undefined && fieldStatus !== null;
  // 529 is Anthropic's own status.
  const status = isOfField ? fieldStatus : errorStatus === 529 ? overloadedStatus : errorStatus;
  const errorBody = error(message, status, details);
  return c.json(errorBody, status as ContentfulStatusCode, headers);
}

/** Whether a browser shows the answer to a person. */
function isNavigation(request: HonoRequest): boolean {
  return request.method === "GET" && request.header("sec-fetch-mode") === "navigate";
}

/** How an error is written. */
interface ErrorForm extends Pick<Api, "error" | "overloadedStatus"> {
  /** The status of an error in a field; null for that of the error. */
  readonly fieldStatus: number | null;
}

const usualStatuses = { fieldStatus: null, overloadedStatus: 503 } as const;

/** Returns the form of a path's errors; that of unknown paths in `/v1` is OpenAI's. */
function errorForm(request: HonoRequest): ErrorForm {
  const rightfulPath = rightPath(request.path) ?? request.path;
  const evaluationForm = evaluationForms.find((each) => each.path === rightfulPath);
  if (evaluationForm !== undefined) {
    const { fieldStatus, error } = evaluationForm;
    return { ...usualStatuses, fieldStatus, error: error ?? openAiError };
  }
  if (!rightfulPath.startsWith("/v1/")) {
    return { ...usualStatuses, error: (message) => ({ error: message }) };
  }
  const api = rightfulPath.startsWith("/v1/models")
    ? apiOfClient(request)
    : apis.find((candidateApi) => rightfulPath.startsWith(candidateApi.path));
  return { ...usualStatuses, error: openAiError, ...api };
}

/** Describes an unknown path of the APIs, which often is a wrong base URL; null for another path. */
function describeApiPath(requestPath: string): string | null {
  const correctPath = rightPath(requestPath);
  const wrongPathText = `There is nothing at this address; use ${correctPath}: the base URL decides.`;
  if (correctPath !== null) return wrongPathText;
  if (!requestPath.startsWith("/v1/")) return null;
  const versionedForms = evaluationForms.filter((form) => form.path.startsWith("/v1/"));
  const postPaths = [...apis, ...versionedForms].map((postForm) => `POST ${postForm.path}`);
  return `There is no such path in this API; use GET /v1/models, ${postPaths.join(", ")}.`;
}

/** Returns the address that a path with too few or too many versions means. */
function rightPath(requestPath: string): string | null {
  const meantPath = "/v1" + requestPath.replace(/^(?:\/v1)+/, "");
  const postPaths = [...apis, ...evaluationForms].map((postForm) => postForm.path);
  const countPaths = apis.flatMap(({ count }) => count?.path ?? []);
  const knownPaths = [...postPaths, ...countPaths, "/v1/models"];
  return meantPath !== requestPath && knownPaths.includes(meantPath) ? meantPath : null;
}
