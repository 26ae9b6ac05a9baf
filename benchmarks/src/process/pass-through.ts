import process from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

// The reference for the router: only hono between the client and an address of the gateway.

const upstream = process.env["UPSTREAM"] ?? "";

const app = new Hono();
app.post("*", async (c) => {
  const body = await c.req.text();
  const { signal } = c.req.raw;
  const headers = new Headers(c.req.raw.headers);
  // Headers of the connection, not of the message.
  for (const name of ["host", "connection", "content-length"]) headers.delete(name);
  const answer = await fetch(upstream, { method: "POST", headers, body, signal });
  const type = answer.headers.get("content-type") ?? "application/json";
  return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
});
app.get("/healthz", (c) => c.json({ status: "alive" }));

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.once("SIGTERM", () => process.exit());
