import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { dateHeader, importedMail, importOf } from "../testing/import-of.ts";

const { resolve } = createRequire(import.meta.url);

test.each([
  [
    "raw-8-bit-headers",
    {
      from: "Jürgen Müller <juergen@example.com>",
      subject: "Grüße – 20 € zurück",
      snippet: "Schöne Grüße aus Köln.",
    },
  ],
  ["html-as-plain-text", { snippet: "Two lamps are still in your basket. Buy them" }],
  ["hidden-text", { snippet: "Pay the fee of 2 € to get your parcel." }],
  ["images-alone", { snippet: "Your account is locked. Confirm your password now" }],
  ["images-without-words", { snippet: "(This mail shows images alone.)" }],
  ["numbers-in-subject", { subject: "Order #, paid with", snippet: "Order number: has shipped." }],
  ["encrypted-with-pgp", { snippet: "(This mail is encrypted; its text cannot be read here.)" }],
  ["encrypted-inline", { snippet: "(This mail is encrypted; its text cannot be read here.)" }],
  ["encrypted-with-smime", { snippet: "(This mail is encrypted; its text cannot be read here.)" }],
])("of %s.eml the model reads what a person sees", async (name, expected) => {
  const path = resolve(`evaluator-fixtures/mail/${name}.eml`);
  const { mails } = await importOf({ "a.eml": await readFile(path) });
  expect(mails).toMatchObject([expected]);
});

test("each header line that is not UTF-8 is windows-1252, and one that is stays", async () => {
  const message = Buffer.concat([
    Buffer.from(`${dateHeader}\nSubject: Grüße\nFrom: `),
    Buffer.from("Müller <m@b.example>", "latin1"),
    Buffer.from("\nContent-Type: text/plain; charset=utf-8\n\nHalló"),
  ]);
  const { mails } = await importOf({ "a.eml": message });
  expect(mails).toMatchObject([
    { subject: "Grüße", from: "Müller <m@b.example>", snippet: "Halló" },
  ]);
});

const html = (body: string) => `${dateHeader}\nContent-Type: text/html\n\n${body}`;
const plain = (body: string) => `${dateHeader}\nContent-Type: text/plain\n\n${body}`;

test.each([
  [
    "a sealed mail",
    `${dateHeader}\nContent-Type: application/pkcs7-mime; smime-type=signed-data\n\nMIAG`,
    "(This mail is sealed in its signature; its text cannot be read here.)",
  ],
  [
    "signs of code in plain text",
    plain("if a < b and <p> is <b> more"),
    "if a < b and <p> is <b> more",
  ],
  ["a doctype in plain text", plain("<!DOCTYPE html><p>Hi"), "Hi"],
  ["text in a hidden child alone", html("a<div hidden>b<p>c</div>d"), "a d"],
  ["text after a hidden image", html('<img style="display:none" alt="x">a'), "a"],
  ["an image without size", html('<img width="0" alt="x"><img height="1px" alt="y">a'), "a"],
  ["text without height that is not cut off", html('<p style="height:0">a</p>'), "a"],
  ["blocks and words", html("<ul><li>one<li>t<b>w</b>o</ul>three<br>four"), "one two three four"],
  ["what no page shows", html("<title>t</title><script>s</script><template>x</template><p>a"), "a"],
  ["a page deeper than any", html(`${"<p><b>".repeat(5000)}deep <i>text`), "deep text"],
])("reads %s", async (_, message, snippet) => {
  expect(await importedMail(message)).toMatchObject({ snippet });
});
