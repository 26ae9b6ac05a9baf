import { expect, test } from "vitest";
import { sampleMail } from "../testing/samples.ts";
import { joinThreads, threadKeys } from "./threads.ts";

type Given = Parameters<typeof sampleMail>[0] & { readonly isScam?: boolean };
const mailOf = (messageId: string, references: string[] = [], fields: Given = {}) => ({
  subject: messageId,
  headers: { messageId, references },
  ...fields,
});

/** Returns the threads of mails, each as the indexes of its mails. */
function threadsOf(...mails: Given[]): number[][] {
  const keys = mails.flatMap(({ isScam = false, ...mail }, at) =>
    threadKeys(sampleMail(mail), isScam).map((key) => ({ key, mail: at })),
  );
  const rootOf = joinThreads(keys.toSorted((one, other) => one.key - other.key));
  return [...Map.groupBy(mails.keys(), rootOf).values()];
}

test("References join mails, in any order and through a mail that is missing", () => {
  expect(threadsOf(mailOf("c", ["a", "b"]), mailOf("x"), mailOf("a"), mailOf("d", ["b"]))).toEqual([
    [0, 2, 3],
    [1],
  ]);
});

test("a subject alone never joins, and neither does a sender with it", () => {
  const subject = "Re: hello";
  const mails = [
    { subject, snippet: "One thing." },
    { subject, snippet: "Another thing." },
    { subject, snippet: "One thing.", from: "bo@example.com" },
  ];
  expect(threadsOf(...mails)).toEqual([[0], [1], [2]]);
});

test("the same alert is one thread, whatever its times and numbers are", () => {
  const alert = (id: string, time: string) =>
    mailOf(id, [], { subject: "Disk full", snippet: `Disk /dev/sda1 at ${time} is full.` });
  expect(threadsOf(alert("a", "09:00"), alert("b", "10:30"), alert("c", "11:15"))).toEqual([
    [0, 1, 2],
  ]);
});

test("a scam that names a conversation does not join it", () => {
  const scam = mailOf("c", ["a"], { isScam: true });
  const other = mailOf("d", ["a"], { isScam: true });
  expect(threadsOf(mailOf("a"), mailOf("b", ["a"]), scam, other)).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

test("cycles and 10,000 references end", () => {
  const ids = Array.from({ length: 10_000 }, (_, at) => `m${at}`);
  const mails = [mailOf("a", ["b"]), mailOf("b", ["a"]), mailOf("c", ["c", ...ids])];
  const last = mailOf("d", ["m9999"]);
  expect(threadsOf(...mails, last)).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

test("a chain of 100,000 mails is one thread", () => {
  const chain = Array.from({ length: 100_000 }, (_, at) => mailOf(`m${at}`, [`m${at - 1}`]));
  expect(threadsOf(...chain.toReversed())).toHaveLength(1);
});
