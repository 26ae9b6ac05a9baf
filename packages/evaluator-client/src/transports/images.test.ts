import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { InvalidRequestError, type StatusError } from "../errors.ts";
import { boolean } from "../questions/kinds.ts";
import { estimateTokens } from "../questions/tokens.ts";
import { image, type State } from "../questions/state.ts";
import { countingTransport } from "../testing/counting-transport.ts";
import { onePixel } from "../testing/one-pixel.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";
import { logprobsTransport } from "./logprobs/logprobs-transport.ts";
import type { TransportOptions } from "./post-transport.ts";
import type { Transport } from "./transport.ts";

const base64 = onePixel.toString("base64");
const jpeg = image(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0));
const gif = image(Buffer.from("GIF89a..."));
const address = image("https://example.com/parcel.png");
const questions = { damaged: boolean("Is the parcel in the photo damaged?") };
const gatewayKey = { apiKey: "a-gateway-key", env: {} };

const wires: Record<string, (options: TransportOptions) => Transport> = {
  contract: (options) => gatewayTransport({ ...gatewayKey, ...options }),
  successor: (options) => gatewayTransport({ ...gatewayKey, ...options, wire: "decision-model" }),
  vendor: (options) => directTransport({ apiKey: null, env: {}, ...options }),
  decisions: (options) =>
    directTransport({ apiKey: null, env: {}, ...options, ...server, wire: "decisions" }),
  logprobs: (options) => logprobsTransport({ ...server, env: {}, ...options }),
};
const server = { baseUrl: "http://127.0.0.1:1", model: "a-model" };

/** Asks about a state over one wire; returns what was sent, or the failure where nothing was. */
async function ask(
  wire: string,
  state: State,
  respond = () => Response.json({ error: { message: "no" } }, { status: 400 }),
) {
  const sent: { method: unknown; body: Record<string, unknown>; headers: Headers }[] = [];
  const fetch = async (_url: string, { method, body, headers }: RequestInit) => {
    sent.push({ method, body: JSON.parse(body as string), headers: new Headers(headers) });
    return respond();
  };
  const transport = (wires[wire] as (typeof wires)[string])({ fetch });
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  const failure: unknown = await evaluator.evaluate({ state, questions }).catch((error) => error);
  return { sent: sent[0], failure: failure as StatusError };
}

const parts: State = ["A parcel", { json: { id: 7 } }, image(onePixel), "and so on", jpeg];

test("the successor's wire carries images as files between text and JSON", async () => {
  const { sent } = await ask("successor", parts);
  expect(sent?.body["stateParts"]).toEqual([
    { type: "text", text: "A parcel" },
    { type: "json", value: { id: 7 } },
    { type: "file", mediaType: "image/png", data: { type: "data", data: base64 } },
    { type: "text", text: "and so on" },
    { type: "file", mediaType: "image/jpeg", data: { type: "data", data: "/9j/4AAA" } },
  ]);
});

test("the vendor's wire names images by their number, and sends its header", async () => {
  const { sent } = await ask("vendor", parts);
  expect(sent?.body).toMatchObject({
    model: "jev-latest",
    state: ["A parcel", { id: 7 }, "[image-1]", "and so on", "[image-2]"],
    assets: {
      "[image-1]": { type: "image", format: "png", data_base64: base64 },
      "[image-2]": { type: "image", format: "jpg", data_base64: "/9j/4AAA" },
    },
    questions: { damaged: { type: "noul" } },
  });
  expect(sent?.method).toBe("POST");
  expect(sent?.headers.get("TypeSafe-Danger-Zone-Images")).toBe("true");
});

test("without images, the vendor's wire sends neither assets nor header", async () => {
  for (const state of ["text", ["text", { json: [1] }]]) {
    const { sent } = await ask("vendor", state);
    expect(sent?.headers.has("TypeSafe-Danger-Zone-Images")).toBe(false);
    expect(sent?.body).toMatchObject({ state: Array.isArray(state) ? ["text", [1]] : "text" });
    expect(sent?.body).not.toHaveProperty("assets");
  }
});

test("the decisions form sends parts as one message, with unchanged addresses", async () => {
  const { sent } = await ask("decisions", ["A parcel", { json: { id: 7 } }, gif, address]);
  expect(sent?.body["input"]).toEqual([
    {
      role: "user",
      content: [
        { type: "input_text", text: "A parcel" },
        { type: "input_text", text: '{"id":7}' },
        { type: "input_image", image_url: gif.image },
        { type: "input_image", image_url: "https://example.com/parcel.png" },
      ],
    },
  ]);
});

test("the decisions form takes every format", async () => {
  const webp = image(Buffer.from("RIFF....WEBPVP8 "));
  for (const taken of [image(onePixel), jpeg, webp, gif]) {
    const { sent } = await ask("decisions", [taken]);
    expect(sent).toBeDefined();
  }
});

const tooLarge = image(Buffer.concat([onePixel, Buffer.alloc(16 * 1024 * 1024)]));

test.each<[string, State, RegExp]>([
  ["contract", [image(onePixel)], /is a list of parts, which this transport does not take;/],
  ["logprobs", ["text"], /gatewayTransport with the wire decision-model, or directTransport/],
  ["successor", [address], /"state\.0" is the address of an image, which this wire does not take/],
  ["vendor", [address], /read the file and send image\(bytes\)/],
  ["vendor", ["text", gif], /"state\.1" is an image of the format gif; .* takes png and jpeg/],
  ["vendor", [tooLarge], /is an image of about 16777\d+ bytes; this wire takes at most 16777216/],
  ["decisions", [tooLarge], /this wire takes at most 16777216/],
  ["successor", [], /an empty list/],
  ["successor", [image("http://example.com/a.png")], /neither a data: URL .* nor an https:/],
  ["successor", [image("data:image/svg+xml;base64,AAAA")], /neither a data: URL/],
  ["successor", [{ json: { a: [Number.NaN] } }], /"state\.0" has JSON that at "json\.a\.0" is a/],
  ["successor", [{ ...jpeg, json: 1 }], /is neither text, \{ json \} nor an image/],
  ["successor", [{ url: "x" }] as unknown as State, /is neither text/],
  ["successor", Array.from({ length: 129 }, () => jpeg), /has 129 images; .* at most 128/],
])(
  "over the %s wire, a state such as %o is rejected before sending",
  async (wire, state, words) => {
    const { sent, failure } = await ask(wire, state);
    expect(sent).toBeUndefined();
    expect(failure).toBeInstanceOf(InvalidRequestError);
    expect(failure.message).toMatch(words);
  },
);

test("a transport of one's own is asked about parts only when it takes them", async () => {
  const { transport, states } = countingTransport();
  const request = { state: [image(onePixel)], questions: { scam: boolean("?") } };
  const failure = createEvaluator({ transport }).evaluate(request);
  await expect(failure).rejects.toBeInstanceOf(InvalidRequestError);
  expect(states).toEqual([]);
});

test("bytes of no known format are no image", () => {
  expect(() => image(Buffer.from("%PDF-1.7"))).toThrow(/neither PNG, JPEG, WebP nor GIF/);
  expect(image(Buffer.from("RIFF....WEBPVP8 ")).image).toMatch(/^data:image\/webp;base64,/);
});

test("a server's text that may repeat an image is not quoted", async () => {
  const words = `cannot read ${base64.slice(20, 50)}`;
  const respond = () => Response.json({ error: { message: words } }, { status: 400 });
  const { failure } = await ask("successor", [image(onePixel)], respond);
  expect(failure.message).toMatch(/^The gateway answered 400\. /);
  const harmless = () => Response.json({ error: { message: "too small" } }, { status: 400 });
  const { failure: other } = await ask("successor", [image(onePixel)], harmless);
  expect(other.message).toContain('"too small"');
});

test("an image counts as tokens by itself, not by its bytes", () => {
  const alone = estimateTokens({ state: ["text"], questions });
  const withImage = estimateTokens({ state: ["text", tooLarge], questions });
  expect(withImage - alone).toBeGreaterThanOrEqual(6272);
  expect(withImage - alone).toBeLessThan(6300);
});
