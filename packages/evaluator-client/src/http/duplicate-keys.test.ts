import { expect, test } from "vitest";
import { createCatalog } from "../catalog/catalog.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { directBody, emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { toJsonResponse } from "./http-response.ts";

const endpoint = { method: "POST", url: "https://service.example/v1", headers: {} } as const;

function read(text: string, status = 200): unknown {
  return toJsonResponse({ status, headers: {}, text }, endpoint).json;
}

const body = JSON.stringify(gatewayBody);
const doubled: [string, string, string][] = [
  [
    "a question",
    body.replace('"answers":{', '"answers":{"scam":{"type":"boolean","probability":1},'),
    '"scam"',
  ],
  ["an option", body.replace('"receipt":', '"other":0.01,"receipt":'), '"other"'],
  [
    "a probability",
    body.replace('"probability":', '"probability":1,"probability":'),
    '"probability"',
  ],
  ["the answers", body.replace('{"answers":', '{"answers":{},"answers":'), '"answers"'],
  [
    "a key spelled otherwise",
    body.replace('"receipt":', '"\\u006fther":0.01,"receipt":'),
    '"other"',
  ],
  [
    "a key before white space",
    body.replace('"receipt":', '"other" \n:\t0.01,"receipt":'),
    '"other"',
  ],
  [
    "a key of metadata",
    body.replace('"marketCost":', '"marketCost":"9","marketCost":'),
    '"marketCost"',
  ],
];

test.each(doubled)(
  "refuses an evaluation that has %s twice, and does not ask again",
  async (_, text, key) => {
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      return new Response(text);
    };
    const transport = gatewayTransport({ apiKey: "k", fetch });
    const call = createEvaluator({ transport }).evaluate(emailRequest);
    await expect(call).rejects.toMatchObject({
      name: "InvalidResponseError",
      rule: "duplicate-key",
      questionId: null,
      message: expect.stringContaining(`has the key ${key} twice in one object`),
    });
    expect(asked).toBe(1);
  },
);

test("refuses it of the vendor and of the catalog too", async () => {
  const vendors = JSON.stringify(directBody).replace('"noul":', '"noul":1,"noul":');
  const transport = directTransport({ apiKey: null, fetch: async () => new Response(vendors) });
  const call = createEvaluator({ transport }).evaluate(emailRequest);
  await expect(call).rejects.toHaveProperty("rule", "duplicate-key");
  const catalog = createCatalog({ fetch: async () => new Response('{"data":[],"data":[]}') });
  await expect(catalog.listModels()).rejects.toHaveProperty("rule", "duplicate-key");
});

test.each([
  ['{"a":"b: c, \\"d\\": e, \\"d\\": f :\\" :"}'],
  ['[":", ":", {":":1}, {":":2}]'],
  ['{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}'],
  ['{"a" :1, "b"\n:2, "":3, "__proto__":4, "a,":5, "a\\\\":6, "a\\"":7}'],
  ["[1,[2,[]],null]"],
  ['"a: \\"b\\": c"'],
  ["7"],
])("takes %s, where no object has a key twice", (text) => {
  expect(read(text)).toEqual(JSON.parse(text));
});

test.each([
  ['{"a,":1,"a,":2}', "a,"],
  ['{"a\\\\":1,"a\\\\":2}', "a\\"],
  ['{"":1,"":2}', ""],
  ['{"__proto__":1,"__proto__":2}', "__proto__"],
  ['[{"a":":"},{"b":1,"b":": "}]', "b"],
])("refuses %s", (text, key) => {
  expect(() => read(text)).toThrow(`the key ${JSON.stringify(key)} twice`);
});

test("an error status says enough by itself, whatever its body has twice", () => {
  expect(read('{"a":1,"a":2}', 500)).toEqual({ a: 2 });
});

test("reads a body nested as deep as JSON may be, and one of many keys that look doubled", () => {
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)},"a":1}`;
  expect(() => read(deep)).toThrow("twice");
  expect(() => read(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).not.toThrow();
  const many = Array.from({ length: 100_000 }, (_, index) => `"${index}: \\":":" :"`);
  expect(() => read(`{${many.join(",")}}`)).not.toThrow();
});
