import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { Fetch } from "../http/http-client.ts";
import { changed, recorder, scam, temporaryFolder } from "../testing/recorder.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { replay } from "./index.ts";

const failing = (status: number) => async () =>
  Response.json({ error: { message: "no" } }, { status });

test.each([408, 409, 425, 429, 500, 503, 529])(
  "a %i, which another attempt may get past, is not kept",
  async (status) => {
    const folder = await temporaryFolder();
    const asked = recorder(folder, { fetch: failing(status) }).evaluate(scam);
    await expect(asked).rejects.toMatchObject({ status });
    expect(await readdir(folder)).toEqual([]);
  },
);

test.each([400, 403, 404, 422])("a %i is final, and kept", async (status) => {
  const folder = await temporaryFolder();
  const asked = recorder(folder, { fetch: failing(status) }).evaluate(scam);
  await expect(asked).rejects.toMatchObject({ status });
  const again = createEvaluator({ transport: replay(folder) });
  await expect(again.evaluate(scam)).rejects.toMatchObject({ status });
});

test("a page in place of an error is kept without its text, and an answer cut off is not", async () => {
  const folder = await temporaryFolder();
  const page =
    (status: number): Fetch =>
    async () =>
      new Response("<html>", { status });
  const cut = recorder(folder, { fetch: page(200) }).evaluate(scam);
  await expect(cut).rejects.toThrow("not whole JSON");
  expect(await readdir(folder)).toEqual([]);
  await expect(recorder(folder, { fetch: page(404) }).evaluate(scam)).rejects.toThrow("404");
  const [file = ""] = await readdir(folder);
  const kept = JSON.parse(await readFile(join(folder, file), "utf8"));
  expect(kept).toMatchObject({ response: { status: 404, body: null } });
});

test.each([
  "authorization",
  "cookie",
  "x-api-key",
  "x-access-token",
  "client-secret",
  "password",
  "x-password",
  "passwd",
])("the value of the header %s is a secret, of 8 characters and more", async (name) => {
  const folder = await temporaryFolder();
  const transport = (own: object) =>
    directTransport({ apiKey: null, ...own, headers: { [name]: "q7Rz0VbM" } });
  const echo = changed((body) => (body["debug"] = "it was q7Rz0VbM"));
  const asked = recorder(folder, { transport, fetch: echo }).evaluate(scam);
  await expect(asked).rejects.toThrow("its body holds the key verbatim");
  const told = recorder(folder, { transport }).evaluate({ ...scam, state: "of q7Rz0VbM" });
  await expect(told).rejects.toThrow("the key verbatim in the request. Nothing was sent.");
  expect(await readdir(folder)).toEqual([]);
});
