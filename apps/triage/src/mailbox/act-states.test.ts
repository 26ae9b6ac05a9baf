import { expect, test } from "vitest";
import {
  type ActEntry,
  type BegunAct,
  isChanged,
  reasonToLeave,
  type SeenMail,
  settleAct,
  listStates,
} from "./act-states.ts";

type EndedAct = ReturnType<typeof settleAct>;

const mail: SeenMail = {
  uid: 5,
  id: "mail-a",
  messageId: "a@example.com",
  flags: ["\\Seen"],
  modseq: "7",
};
const place = { account: "imap://ada@127.0.0.1", folder: "INBOX", uidvalidity: 1, uid: 5 };
const act = { ...place, key: "1:5:INBOX", id: "a", isUndo: false, known: {}, mail };
const moving: BegunAct = {
  ...act,
  command: "move",
  target: "Archive",
  arrival: { uidvalidity: 2, uidnext: 40 },
};
const flagging: BegunAct = { ...act, command: "add", target: "\\Flagged", arrival: null };
const inArchive = { folder: "Archive", uidvalidity: 2, uid: 40, flags: mail.flags };
const done: EndedAct = { isDone: true, ...inArchive };
const failed: EndedAct = { ...done, isDone: false };
const undoing: BegunAct = { ...moving, ...inArchive, isUndo: true, target: "INBOX" };

test.each<[string, [BegunAct, EndedAct | null][], boolean, boolean]>([
  ["a cut command", [[moving, null]], true, false],
  ["a done command", [[moving, done]], false, true],
  ["a command without effect", [[moving, failed]], true, false],
  [
    "a command that worked the second time",
    [
      [moving, failed],
      [moving, done],
    ],
    false,
    true,
  ],
  [
    "a cut undo",
    [
      [moving, done],
      [undoing, null],
    ],
    false,
    true,
  ],
  [
    "an undo without effect",
    [
      [moving, done],
      [undoing, failed],
    ],
    false,
    true,
  ],
  [
    "a done undo",
    [
      [moving, done],
      [undoing, done],
    ],
    false,
    false,
  ],
  ["a flag that the mail had", [[{ ...flagging, target: "\\seen" }, done]], false, false],
])("%s is open: %#", (_, rows, isOpen, hasUndo) => {
  const entries = rows.map(([begun, ended], row): ActEntry => ({ row, begun, ended }));
  const state = listStates(entries).get(act.key);
  expect([state?.isOpen, state?.undoAct !== null]).toEqual([isOpen, hasUndo]);
});

test("the undo of a move goes from the new place to the old folder", () => {
  const { undoAct: undo } = listStates([{ row: 1, begun: moving, ended: done }]).get(act.key) ?? {};
  expect(undo).toMatchObject({ command: "move", target: "INBOX", folder: "Archive", uid: 40 });
});

const arrivedAt = (uid: number, changed: Partial<SeenMail> = {}) => ({ ...mail, uid, ...changed });

test.each<[string, SeenMail | undefined, SeenMail[], Partial<EndedAct>]>([
  ["is still there", mail, [arrivedAt(41)], { isDone: false, folder: "INBOX", uid: 5 }],
  ["arrived", undefined, [arrivedAt(41)], { isDone: true, folder: "Archive", uid: 41 }],
  ["was a copy before", undefined, [arrivedAt(39)], { isDone: false }],
  ["is another mail", undefined, [arrivedAt(41, { id: "mail-b" })], { isDone: false }],
  [
    "has a twin with other flags",
    undefined,
    [arrivedAt(41, { flags: [] }), arrivedAt(42)],
    { isDone: true, uid: 42 },
  ],
  [
    "has new flags",
    undefined,
    [arrivedAt(41, { flags: ["\\Seen", "mine"] })],
    { isDone: true, uid: 41, flags: ["\\Seen", "mine"] },
  ],
  ["left a UID to another mail", arrivedAt(5, { messageId: "b" }), [], { isDone: false }],
])("a cut move of a mail that %s", (_, here, arrived, expected) => {
  expect(settleAct(moving, here, arrived)).toMatchObject(expected);
});

test("of two equal mails that arrived, each is one", () => {
  const arrived = [arrivedAt(41), arrivedAt(42)];
  const twin = { ...moving, uid: 6, mail: { ...mail, uid: 6 } };
  const uids = [moving, twin, twin].map((begun) => settleAct(begun, undefined, arrived));
  expect(uids.map(({ isDone, uid }) => [isDone, uid])).toEqual([
    [true, 41],
    [true, 42],
    [false, 6],
  ]);
});

test.each<[string, BegunAct, SeenMail | undefined, boolean]>([
  ["a flag that is set", flagging, { ...mail, flags: ["\\Flagged"] }, true],
  ["a flag that is not set", flagging, mail, false],
  ["a removed flag", { ...flagging, command: "remove" }, mail, true],
  ["a mail that is gone", flagging, undefined, false],
])("a cut command on %s", (_, begun, here, isDone) => {
  expect(settleAct(begun, here, []).isDone).toBe(isDone);
});

test("only what is known is compared", () => {
  const compare = (known: Partial<SeenMail>) => reasonToLeave({ ...moving, known }, mail);
  expect(compare({ messageId: "a@example.com" })).toBeNull();
  expect(compare({})).toBeNull();
  expect(compare({ messageId: "b@example.com" })).toContain("another mail");
  expect(compare({ id: "mail-b" })).toContain("another mail");
});

test("a mail that is no longer at its UID, or is another one, is left", () => {
  expect(reasonToLeave(moving, undefined)).toContain(
    "no longer at its UID in INBOX; import and plan again",
  );
  expect(reasonToLeave(undoing, undefined)).toContain("in Archive; it stays where it is");
  const known = { messageId: "other@example.com" };
  expect(reasonToLeave({ ...moving, known }, mail)).toContain("another mail is at its UID");
});

test.each([
  [undefined, false],
  [["\\Seen"], false],
  [["\\Flagged"], true],
  [[], true],
])("if its flags were known to be %j, a mail has changed: %j", (flags, isDifferent) => {
  const known = flags === undefined ? {} : { flags };
  expect(isChanged({ ...moving, known }, mail)).toBe(isDifferent);
});
