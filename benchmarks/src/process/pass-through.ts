import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";

// The reference for the router: only hono between the client and the gateway.

const gateway = process.env["GATEWAY"] ?? "";

const app = new Hono();
app.post("/chat", async (c) => {
  const body = await c.req.text();
  const { signal } = c.req.raw;
  const headers = new Headers(c.req.raw.headers);
  // Headers of the connection, not of the message.
  for (const name of ["host", "connection", "content-length"]) headers.delete(name);
  const answer = await fetch(`${gateway}/language-model`, {
    method: "POST",
    headers,
    body,
    signal,
  });
  const type = answer.headers.get("content-type") ?? "application/json";
  return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
});
app.get("/healthz", (c) => c.json({ status: "alive" }));

const server = createServer(getRequestListener(app.fetch));
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once("SIGTERM", () => process.exit());
