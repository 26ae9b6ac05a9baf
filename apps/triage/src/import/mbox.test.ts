import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { dateHeader, importOf, mbox } from "../testing/import-of.ts";

test("reads past attachments that are larger than what is kept of a mail, on short and endless lines", async () => {
  const large = (line: string) =>
    `${dateHeader}\nSubject: large\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\nHi\n--q\nContent-Disposition: attachment\n\n${line.repeat(100_000)}\n--q--`;
  const small = `${dateHeader}\nSubject: small\n\nHi`;
  const line = "A".repeat(76);
  const { mails, stderr } = await importOf({
    "a.mbox": mbox(large(`${line}\n`), small, large(line), small),
  });
  expect(mails).toMatchObject(
    ["large", "small", "large", "small"].map((subject) => ({ subject, snippet: "Hi" })),
  );
  expect(stderr).toContain("Of 2 larger than 1 MB only the start was read.\n");
});

test("reads gzip, also in several members", async () => {
  const one = gzipSync(mbox(`${dateHeader}\nSubject: one\n\nHi`));
  const two = gzipSync(mbox(`${dateHeader}\nSubject: two\n\nHi`));
  const { mails } = await importOf({ "a.mbox.gz": Buffer.concat([one, two]) });
  expect(mails).toMatchObject([{ subject: "one" }, { subject: "two" }]);
});
