import type { Context, Handler, Hono } from "hono";
import { INEXACT, parseExactJson } from "evaluator-kit";
import { HttpError } from "../http-error.ts";
import { toCall, type ClientEnv } from "./client-request.ts";
import { readJson } from "./json-body.ts";
import { deepPath, TOO_DEEP } from "./json-depth.ts";
import type { Guards } from "./guards.ts";
import { type EvaluationForm, wrongField } from "../evaluations/evaluation-form.ts";
import { evaluationForms } from "../evaluations/evaluation-forms.ts";
import { inWrittenOrder } from "../evaluations/written-order.ts";
import type { EvaluationRouter } from "../evaluation-router.ts";

/** Adds a route for each form of typed questions. */
export function addEvaluationRoutes(
  app: Hono<ClientEnv>,
  { router, guards }: { readonly router: EvaluationRouter; readonly guards: Guards },
): void {
  for (const evaluationForm of evaluationForms) {
    const { requestIdHeader } = evaluationForm;
    if (requestIdHeader !== undefined) {
      app.use(evaluationForm.path, async (c, next) => {
        c.header(requestIdHeader, c.var.requestId);
        await next();
      });
    }
    app.post(evaluationForm.path, ...guards.conversation, evaluationRoute(evaluationForm, router));
  }
}

function evaluationRoute(form: EvaluationForm, router: EvaluationRouter): Handler<ClientEnv> {
  return async (c: Context<ClientEnv>) => {
    const { key } = c.var;
    if (key?.decisions === false) {
      throw new HttpError(403, "The key may not ask decision models; use a key with --decisions.");
    }
    const { text, value, inexact } = await readJson(c.req, (text) => {
      return { text, ...parseExactJson(text) };
    });
    const tooDeepPath = deepPath(value);
    if (tooDeepPath !== null) throw wrongField(tooDeepPath, TOO_DEEP);
    const [roundedJsonPath] = inexact;
    if (roundedJsonPath !== undefined) throw wrongField(roundedJsonPath, INEXACT);
    const { body, sortedNames } = inWrittenOrder(text, value);
    if (sortedNames.length > 0) c.header("x-router-sorted", sortedNames.join(", "));
    const askedRequest = form.read(body, (headerName) => c.req.header(headerName));
    const boughtAnswer = await router.ask({ ...toCall(c, form.endpoint), ...askedRequest });
    if (boughtAnswer.isCached) c.header("x-router-cache", "hit");
    if (boughtAnswer.promise !== null) c.header("x-router-promise", boughtAnswer.promise);
    return c.json(askedRequest.write(boughtAnswer));
  };
}
