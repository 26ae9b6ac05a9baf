import type { MiddlewareHandler } from "hono";

/** Lets a message wait until the price list was tried, so that its costs are known if they can be. */
export function afterPrices(pricesTried: Promise<void>): MiddlewareHandler {
  return async (_c, next) => {
    await pricesTried;
    return next();
  };
}
