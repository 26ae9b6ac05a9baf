import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { type CliContext, closeServer, iconFile, isForeignRequest, listen } from "evaluator-kit";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";

const MAX_FORM_BYTES = 65_536;

/** Returns an app without routes for a page that is open to the browser of this machine alone. */
export function ownPage() {
  const app = new Hono<{ Bindings: HttpBindings }>({ strict: false });
  app.use(async (c, next) => {
    if (isForeign(c)) return c.text("Open this page at its own address.", 403);
    // The page holds the rest of its policy.
    c.header("Content-Security-Policy", "frame-ancestors 'none'");
    c.header("X-Content-Type-Options", "nosniff");
    // With no-referrer a browser would name no origin for the form.
    c.header("Referrer-Policy", "same-origin");
    c.header("Cache-Control", "no-store");
    return await next();
  });
  app.use(bodyLimit({ maxSize: MAX_FORM_BYTES }));
  app.get("/favicon.ico", (c) => c.body(...iconFile()));
  app.notFound((c) => c.text("Not found; the page is at /.", 404));
  app.onError((error, c) => c.text(`${error.message} Go back and try again.`, 500));
  return app;
}

function isForeign(c: Context): boolean {
  const [host, origin] = [c.req.header("host"), c.req.header("origin")];
  // Another program's page on this machine is foreign too.
  const isOwn = origin === undefined || origin === `http://${host}`;
  const site = c.req.header("sec-fetch-site") ?? "none";
  return !isOwn || isForeignRequest({ host }) || !["none", "same-origin"].includes(site);
}

/** Serves a page on this machine until a signal, at the next port if its own is taken; `announce` gets its address. */
export async function servePage(
  app: ReturnType<typeof ownPage>,
  { port, signal, stderr }: Pick<CliContext, "signal" | "stderr"> & { readonly port: number },
  announce: (origin: string) => void,
): Promise<void> {
  // By default it replaces the Request and Response of the whole program.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(answer);
  const { origin } = await listen(server, { port, warn: (line) => stderr.write(line) });
  announce(origin);
  if (!signal.aborted) await once(signal, "abort");
  await closeServer(server);
}
