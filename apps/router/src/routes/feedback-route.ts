import type { Handler } from "hono";
import { z } from "zod";
import { HttpError } from "../http-error.ts";
import type { FeedbackRecord } from "../records/message-record.ts";
import { type Tier, tierNames } from "../tier-question.ts";
import { type ClientEnv, readJson } from "./client-request.ts";

const feedbackSchema = z.object({
  requestId: z.string().regex(/^[\w\-=]{1,255}$/, "is no id that this router gave"),
  tier: z.enum(tierNames, `is none of ${tierNames.join(", ")}`),
});

/** Where feedback goes. */
export interface FeedbackParts {
  readonly instance: string;
  /** Keeps it in the decision log; null without one. */
  readonly keep: ((record: FeedbackRecord) => void) | null;
  /** Counts it. */
  readonly count: (tier: Tier) => void;
}

/**
 * Returns the route `POST /feedback`: `{ requestId, tier }` in, the tier that would have been
 * right; nothing out.
 */
export function feedbackRoute({ instance, keep, count }: FeedbackParts): Handler<ClientEnv> {
  return async (c) => {
    const { data, error } = feedbackSchema.safeParse(await readJson(c.req));
    if (data === undefined) {
      const [issue] = error.issues;
      const what = `${issue?.path.map(String).join(".") || "the body"} ${issue?.message}`;
      throw new HttpError(400, `Send { "requestId": "…", "tier": "…" }: ${what}.`);
    }
    if (keep === null) {
      throw new HttpError(
        409,
        "Nothing keeps feedback here: start the router with ROUTER_DECISION_LOG.",
      );
    }
    const { requestId, tier } = data;
    keep({ time: new Date().toISOString(), instance, requestId, feedback: tier });
    count(tier);
    return c.body(null, 204);
  };
}
