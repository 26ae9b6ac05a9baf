import { decisionsForm } from "./decisions-form.ts";
import type { EvaluationForm } from "./evaluation-form.ts";
import { gatewayForms } from "./gateway-form.ts";
import { systemoneForm } from "./systemone-form.ts";

/** The forms in which clients ask typed questions. */
export const evaluationForms: readonly EvaluationForm[] = [
  systemoneForm,
  decisionsForm,
  ...gatewayForms,
];
