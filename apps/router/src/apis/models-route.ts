import type { Context, Hono } from "hono";
import { tryDecodeURIComponent } from "hono/utils/url";
import type { ClientEnv } from "../routes/client-request.ts";
import { missingModel, type NamedModels, ownNames } from "./model-names.ts";

/** Adds `/v1/models`, in Anthropic's form for a request with `anthropic-version`. */
export function addModelRoutes(app: Hono<ClientEnv>, models: NamedModels): void {
  app.get("/v1/models", (c) => {
    const data = ownNames(models).map((id) => toModel(c, id));
    if (!isAnthropic(c)) return c.json({ object: "list", data });
    return c.json({ data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id });
  });
  app.get("/v1/models/*", (c) => {
    const id = tryDecodeURIComponent(c.req.path.slice("/v1/models/".length));
    const { prices, services } = models.routing;
    const isKnown = ownNames(models).includes(id) || prices.has(id);
    if (isKnown || services.replies.current.isConfigured(id)) return c.json(toModel(c, id));
    throw missingModel(models);
  });
}

function isAnthropic(c: Context): boolean {
  return c.req.header("anthropic-version") !== undefined;
}

function toModel(c: Context, id: string) {
  return isAnthropic(c)
    ? { type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" }
    : { id, object: "model", created: 0, owned_by: "router" };
}
