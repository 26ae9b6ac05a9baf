import type { MiddlewareHandler } from "hono";
import { Refusal } from "./refusal.ts";

/** Refuses a body that does not say it is JSON; a form of a foreign page cannot say so. */
export const jsonOnly: MiddlewareHandler = async (c, next) => {
  const [mediaType = ""] = (c.req.header("content-type") ?? "").split(";", 1);
  if (mediaType.trim().toLowerCase() === "application/json") return next();
  throw new Refusal(415, "Send JSON with the header Content-Type: application/json.");
};
