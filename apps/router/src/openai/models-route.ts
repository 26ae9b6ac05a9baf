import type { Handler } from "hono";
import { tierNames } from "../tier-question.ts";

/** What the OpenAI door calls a routed message. */
export const autoModel = "auto";

const data = [autoModel, ...tierNames].map((id) => ({
  id,
  object: "model",
  created: 0,
  owned_by: "router",
}));

/** `GET /v1/models`: `auto`, and each tier under its own name. */
export const modelsRoute: Handler = (c) => c.json({ object: "list", data });
