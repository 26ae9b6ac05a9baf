import { createCatalog, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { findPrice } from "../testing/index.ts";
import { expect, test } from "vitest";
import { recordingTransport, sampleResponse } from "../testing/samples.ts";
import { sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, startTickets } from "../testing/tickets/start-tickets.ts";

const { signal } = new AbortController();
const modelId = "typesafe-ai/jev";
const documented = 0.042;
const transport = gatewayTransport({ apiKey: "none", modelId, env: {} });
const asked = { given: undefined, transport, signal };

function catalogOf(answer: () => Response) {
  return createCatalog({ fetch: async () => answer(), env: {}, maxRetries: 0 });
}

function listing(pricing: object, id = modelId) {
  return catalogOf(() => Response.json({ data: [{ id, pricing }] }));
}

test("the gateway's list counts, per million tokens", async () => {
  const catalog = listing({ input: "0.00000005" });
  const source = "the gateway's price list";
  const price = { inputUsdPerMillionTokens: 0.05, source };
  expect(await findPrice({ ...asked, catalog })).toEqual(price);
});

test("the emulator lists the model as the gateway does", async () => {
  const emulator = createEmulator();
  const fetch = (input: string | URL | Request, init?: RequestInit) => emulator.fetch(input, init);
  const catalog = createCatalog({ fetch, env: {} });
  expect(await findPrice({ ...asked, catalog })).toMatchObject({
    inputUsdPerMillionTokens: documented,
    source: "the gateway's price list",
  });
});

test.each([
  ["there is no list", null, "the documented price"],
  ["another model is listed", listing({ input: "1" }, "other"), "; the gateway lists none"],
  ["no price is listed", listing({}), "; the gateway lists none"],
  [
    "the list fails",
    catalogOf(() => new Response("", { status: 500 })),
    "; the gateway's list cannot be read",
  ],
  ["the list is broken", catalogOf(() => Response.json([])), "; the gateway's list cannot be read"],
])("when %s, the contract's price counts and says so", async (_, catalog, source) => {
  const price = await findPrice({ ...asked, catalog });
  expect(price.inputUsdPerMillionTokens).toBe(documented);
  expect(price.source).toBe(`the documented price${source.replace("the documented price", "")}`);
});

test("an answer that says no cost is counted by the listed price", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const openCatalog = async () => listing({ input: "0.0005" });
  const target = { url: "https://gateway.example/v4/ai", modelId };
  const { providerMetadata: _, ...response } = sampleResponse();
  const answer = () => ({ ...response, providerMetadata: {} });
  const recording = { ...recordingTransport(answer), target };
  const { stderr } = await startTickets(["inbox.json"], { cwd, transport: recording, openCatalog });
  expect(stderr).toContain("($500.00 a million tokens: the gateway's price list)");
  expect(stderr).toContain("300 tokens, $0.15,");
});
