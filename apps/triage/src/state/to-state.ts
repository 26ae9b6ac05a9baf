import type { JsonObject } from "evaluator-client";
import type { Mail } from "../input/mail.ts";

/** Gives what the model reads about a mail. */
export type ToState = (mail: Mail) => JsonObject;

/** The contract's four keys (section 4.7); names and their order are input to the model (section 2.1). */
export const toState: ToState = ({ from, subject, date, snippet }) => ({
  from,
  subject,
  date,
  snippet,
});
