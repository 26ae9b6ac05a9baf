import type { Context, Handler, Hono } from "hono";
import { INEXACT, parseExactJson } from "evaluator-kit";
import { HttpError } from "../http-error.ts";
import { callOf, type ClientEnv } from "./client-request.ts";
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
  for (const form of evaluationForms) {
    app.post(form.path, ...guards.conversation, evaluationRoute(form, router));
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
    const deep = deepPath(value);
    if (deep !== null) throw wrongField(deep, TOO_DEEP);
    const [rounded] = inexact;
    if (rounded !== undefined) throw wrongField(rounded, INEXACT);
    const { body, sorted } = inWrittenOrder(text, value);
    if (sorted.length > 0) c.header("x-router-sorted", sorted.join(", "));
    const asked = form.read(body, (name) => c.req.header(name));
    const { endpoint } = form;
    const answered = await router.ask({ ...callOf(c, endpoint), ...asked, endpoint });
    if (answered.isCached) c.header("x-router-cache", "hit");
    if (answered.promise !== null) c.header("x-router-promise", answered.promise);
    return c.json(asked.write(answered));
  };
}
