import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { Routing } from "./chat/route-message.ts";
import type { Page } from "./page/page.ts";
import { chatRoute } from "./routes/chat-route.ts";
import { type ClientEnv, keepClientSignal } from "./routes/client-signal.ts";
import { failureRoute } from "./routes/failure-route.ts";
import { jsonOnly } from "./routes/json-only.ts";
import { limitedBody } from "./routes/limited-body.ts";
import { pageRoute } from "./routes/page-route.ts";
import { sameOriginOnly } from "./security/same-origin-only.ts";
import { securityHeaders } from "./security/security-headers.ts";

/** What the application is made of. */
export interface AppParts extends Routing {
  readonly page: Page;
  /** The `Host` values it answers to. */
  readonly hosts: ReadonlySet<string>;
  /** Is told of an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
}

/** The router as a web application: every door, and what every request passes first. */
export function createApp({ page, hosts, reportDefect, ...routing }: AppParts): Hono<ClientEnv> {
  const app = new Hono<ClientEnv>();
  app.use(keepClientSignal, securityHeaders(page), sameOriginOnly(hosts));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) =>
        c.json({ error: `Use ${methods.join(" or ")} here.` }, 405, { Allow: methods.join(", ") }),
    }),
  );
  app.get("/", pageRoute(page));
  app.post("/chat", jsonOnly, limitedBody, chatRoute(routing));
  app.notFound((c) => c.json({ error: "There is nothing here; the page is at /." }, 404));
  app.onError(failureRoute(routing.services.redact, reportDefect));
  return app;
}
