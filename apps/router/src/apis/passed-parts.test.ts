import { expect, test } from "vitest";
import { oneUpstream } from "../testing/one-upstream.ts";

const own = "http://192.168.1.5/cam.jpg";
const elsewhere = "http://example.com/a.png";
const said = (api: string, part: object) => {
  const history = [{ role: "user", content: [{ type: "text", text: "what" }, part] }];
  return api === "responses" ? { input: history } : { messages: history };
};

/** Parts that only services of their API take. */
const parts = [
  ["chat", { type: "image_url", image_url: { url: elsewhere } }],
  ["chat", { type: "image_url", image_url: elsewhere }],
  ["chat", { type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } }],
  ["chat", { type: "file", file: { file_id: "file-1" } }],
  ["chat", { type: "file", file: { filename: "a.docx", file_data: "UEsDBBQAAAA=" } }],
  ["responses", { type: "input_image", file_id: "file-1" }],
  ["responses", { type: "input_image", image_url: elsewhere }],
  ["responses", { type: "input_file", file_id: "file-1" }],
  ["messages", { type: "image", source: { type: "url", url: elsewhere } }],
  ["messages", { type: "document", source: { type: "file", file_id: "file-1" } }],
] as const;

const typeOf = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic",
} as const;

test.each(parts)("%s: %j passes to a service of the API, unchanged", async (api, part) => {
  const { ask, body } = await oneUpstream(typeOf[api]);
  const request = said(api, part);
  expect((await ask(api, request)).status).toBe(200);
  expect(body()).toMatchObject(request);
});

test.each(parts)("%s: %j is refused elsewhere with the service's name", async (api, part) => {
  const { ask, sent } = await oneUpstream("gateway");
  const response = await ask(api, said(api, part));
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/The upstream u cannot do this: (?:messages|input)\.0\./);
  expect(sent).toEqual([]);
});

const images = [
  ["chat", { type: "image_url", image_url: { url: own } }],
  ["chat", { type: "image_url", image_url: own }],
  ["responses", { type: "input_image", image_url: own }],
  ["messages", { type: "image", source: { type: "url", url: own } }],
] as const;

test.each(images)("%s: %j is for a service on the same network", async (api, part) => {
  const near = await oneUpstream(typeOf[api], { baseUrl: "http://127.0.0.1:8000/v1" });
  expect((await near.ask(api, said(api, part))).status).toBe(200);
  expect(near.body()).toMatchObject(said(api, part));
  const far = await oneUpstream(typeOf[api]);
  const response = await far.ask(api, said(api, part));
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("The upstream u cannot do this");
  expect(far.sent).toEqual([]);
});

test.each(["file:///etc/passwd", "ftp://example.com/a.png", "gopher://a"])(
  "%s is refused for every service",
  async (url) => {
    const { ask, sent } = await oneUpstream("openai-chat", { baseUrl: "http://127.0.0.1/v1" });
    const response = await ask("chat", said("chat", { type: "image_url", image_url: { url } }));
    expect(response.status).toBe(400);
    expect(sent).toEqual([]);
  },
);

test("base64 without data: reaches services of every API with its type", async () => {
  const pdf = { type: "file", file: { filename: "a.pdf", file_data: "JVBERi0=" } };
  const png = { type: "image_url", image_url: { url: "iVBORw0KGgo=" } };
  const { ask, body } = await oneUpstream("anthropic");
  expect((await ask("chat", said("chat", pdf))).status).toBe(200);
  expect(JSON.stringify(body())).toContain('"media_type":"application/pdf","data":"JVBERi0="');
  expect((await ask("chat", said("chat", png))).status).toBe(200);
  expect(JSON.stringify(body())).toContain('"media_type":"image/png","data":"iVBORw0KGgo="');
});
