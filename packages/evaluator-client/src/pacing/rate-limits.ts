import * as z from "zod";

/** Known limits of a service; 95 % of each is used. */
export const rateLimitsSchema = z.strictObject({
  requestsPerMinute: z.number().positive().optional(),
  tokensPerSecond: z.number().positive().optional(),
});
/** Known limits of a service; 95 % of each is used. */
export interface RateLimits {
  /** Requests per minute, over everyone who shares the key. */
  readonly requestsPerMinute?: number;
  /** Input tokens per second, over everyone who shares the key. */
  readonly tokensPerSecond?: number;
}
