import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { directBody, emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { httpResponse, listenOnSocket } from "../testing/socket-server.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";
import type { Transport } from "./transport.ts";

/** The bytes of one evaluation as a server receives them, with its changing port left out. */
async function capture(body: object, transportAt: (origin: string) => Transport): Promise<string> {
  const respond = httpResponse(200, JSON.stringify(body));
  await using server = await listenOnSocket((socket) => socket.write(respond));
  await createEvaluator({ transport: transportAt(server.origin) }).evaluate(emailRequest);
  const [request = ""] = server.requests;
  return request.replace(new URL(server.origin).host, "HOST").replaceAll("\r\n", "\n");
}

test("the gateway receives the six headers of the contract and its body", async () => {
  const request = await capture(gatewayBody, (origin) =>
    gatewayTransport({ apiKey: "a-gateway-key", baseUrl: `${origin}/v4/ai`, env: {} }),
  );
  expect(request).toMatchInlineSnapshot(`
    "POST /v4/ai/evaluation-model HTTP/1.1
    host: HOST
    connection: keep-alive
    Authorization: Bearer a-gateway-key
    ai-model-id: typesafe-ai/jev
    ai-evaluation-model-specification-version: 4
    ai-gateway-protocol-version: 0.0.1
    ai-gateway-auth-method: api-key
    Content-Type: application/json
    content-length: 418

    {"state":{"from":"a@example.com","subject":"Your invoice"},"questions":{"category":{"type":"choice","instructions":"What kind of email is this?","criteria":{"receipt":"a payment receipt","other":"none of the above"}},"importance":{"type":"score","instructions":"How important is it?","criteria":["ignore: nothing to do","high: reply within days"]},"scam":{"type":"boolean","instructions":"Does it look like a scam?"}}}"
  `);
});

test("the successor's wire differs in path, version header and state", async () => {
  const request = await capture(gatewayBody, (origin) =>
    gatewayTransport({ apiKey: "a-gateway-key", baseUrl: origin, wire: "decision-model", env: {} }),
  );
  expect(request).toMatchInlineSnapshot(`
    "POST /decision-model HTTP/1.1
    host: HOST
    connection: keep-alive
    Authorization: Bearer a-gateway-key
    ai-model-id: typesafe-ai/jev
    ai-decision-model-specification-version: 4
    ai-gateway-protocol-version: 0.0.1
    ai-gateway-auth-method: api-key
    Content-Type: application/json
    content-length: 449

    {"stateParts":[{"type":"json","value":{"from":"a@example.com","subject":"Your invoice"}}],"questions":{"category":{"type":"choice","instructions":"What kind of email is this?","criteria":{"receipt":"a payment receipt","other":"none of the above"}},"importance":{"type":"score","instructions":"How important is it?","criteria":["ignore: nothing to do","high: reply within days"]},"scam":{"type":"boolean","instructions":"Does it look like a scam?"}}}"
  `);
});

test("the vendor receives the model in the body, and boolean as noul", async () => {
  const request = await capture(directBody, (origin) =>
    directTransport({ apiKey: "a-vendor-key", baseUrl: origin, env: {} }),
  );
  expect(request).toMatchInlineSnapshot(`
    "POST /v1/systemone HTTP/1.1
    host: HOST
    connection: keep-alive
    Authorization: Bearer a-vendor-key
    Content-Type: application/json
    content-length: 436

    {"model":"jev-latest","state":{"from":"a@example.com","subject":"Your invoice"},"questions":{"category":{"type":"choice","instructions":"What kind of email is this?","criteria":{"receipt":"a payment receipt","other":"none of the above"}},"importance":{"type":"score","instructions":"How important is it?","criteria":["ignore: nothing to do","high: reply within days"]},"scam":{"type":"noul","instructions":"Does it look like a scam?"}}}"
  `);
});

test("a server without keys receives no Authorization", async () => {
  const request = await capture(directBody, (origin) =>
    directTransport({ apiKey: null, baseUrl: origin, env: {} }),
  );
  expect(request).not.toMatch(/authorization/i);
});

test("a given fetch carries the same method, headers and body", async () => {
  const sent: unknown[] = [];
  const transport = gatewayTransport({
    apiKey: "a-gateway-key",
    env: {},
    async fetch(url, { method, headers, body, redirect }) {
      sent.push({ url, method, headers, body, redirect });
      return Response.json(gatewayBody);
    },
  });
  await createEvaluator({ transport }).evaluate(emailRequest);
  expect(sent).toEqual([
    {
      url: "https://ai-gateway.vercel.sh/v4/ai/evaluation-model",
      method: "POST",
      headers: {
        Authorization: "Bearer a-gateway-key",
        "ai-model-id": "typesafe-ai/jev",
        "ai-evaluation-model-specification-version": "4",
        "ai-gateway-protocol-version": "0.0.1",
        "ai-gateway-auth-method": "api-key",
        "Content-Type": "application/json",
      },
      body: JSON.stringify(emailRequest),
      redirect: "manual",
    },
  ]);
});

test("both transports give equal answers, confidence and usage", async () => {
  const gateway = gatewayTransport({
    apiKey: "a-gateway-key",
    fetch: async () => Response.json(gatewayBody),
  });
  const direct = directTransport({
    apiKey: "a-vendor-key",
    fetch: async () => Response.json(directBody),
  });
  const [viaGateway, viaDirect] = await Promise.all(
    [gateway, direct].map((transport) => createEvaluator({ transport }).evaluate(emailRequest)),
  );
  expect(viaDirect?.answers).toStrictEqual(viaGateway?.answers);
  expect(viaDirect?.confidence).toStrictEqual(viaGateway?.confidence);
  expect(viaDirect?.usage).toStrictEqual(viaGateway?.usage);
  expect(viaDirect?.rounding).toStrictEqual(viaGateway?.rounding);
});
