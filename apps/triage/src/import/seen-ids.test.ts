import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";

test("an id that comes again gets a number, one that looks numbered too", async () => {
  const come = ["a", "b", "a", "a#2", "a", "a#2", "c"];
  const messages = come.map((id) => `Message-ID: <${id}>\n${dateHeader}\nSubject: s\n\nHi`);
  const { mails } = await importOf({ "a.mbox": mbox(...messages) });
  expect(mails?.map(({ id }) => id)).toEqual(["a", "b", "a#2", "a#2#2", "a#3", "a#2#3", "c"]);
});
