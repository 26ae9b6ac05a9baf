import { argv, env } from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

// The reference for gateways: only hono between the client and the service.

const app = new Hono();
app.post("*", async (c) => {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: await c.req.text(), signal: c.req.raw.signal };
  const answer = await fetch(`${env["UPSTREAM"]}${c.req.path}`, init);
  const type = answer.headers.get("content-type") ?? "application/json";
  return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
});

serve({ fetch: app.fetch, port: Number(argv[2]), hostname: "127.0.0.1" });
