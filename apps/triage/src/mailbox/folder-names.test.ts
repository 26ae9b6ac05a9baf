import { expect, test } from "vitest";
import { playTranscripts } from "../testing/play-transcript.ts";
import { connect } from "./connect.ts";
import { findFolder, findListed, listFolders, listSpellings } from "./folder-names.ts";
import { parseMailboxUrl } from "./mailbox-url.ts";

const personal = [{ prefix: "INBOX.", delimiter: "." }];
const client = { namespaces: { personal, other: false, shared: false } } as const;

test.each([
  ["inbox", ["INBOX"]],
  ["Clients", ["Clients", "INBOX.Clients"]],
  ["A/B", ["A/B", "INBOX.A/B", "A.B", "INBOX.A.B"]],
  ["Bu\u0308ro", ["Bu\u0308ro", "B\u00FCro", "INBOX.Bu\u0308ro", "INBOX.B\u00FCro"]],
])("the names that %j may have on a server", (name, names) => {
  expect(
    listSpellings(name, { namespaces: { ...client.namespaces, personal: [...personal] } }),
  ).toEqual(names);
});

const own = [
  String.raw`S: * LIST () "." INBOX.Clients`,
  String.raw`S: * LIST () "." INBOX.B&APw-ro`,
  String.raw`S: * LIST (\Noselect) "." INBOX.Old`,
  "S: TAG OK",
];
const shared = [
  String.raw`S: * LIST () "." Shared.Support`,
  String.raw`S: * LIST (\Archive) "." Shared.Archive`,
  "S: TAG OK",
];
const inbox = [String.raw`S: * LIST () "." INBOX`, "S: TAG OK"];
const listed = [
  'C: LIST "INBOX." "*"',
  ...own,
  'C: LIST "" "INBOX"',
  ...inbox,
  'C: LSUB "INBOX." "*"\nS: TAG OK\nC: LIST "Shared." "*"',
  ...shared,
  'C: LIST "" "INBOX"',
  ...inbox,
  'C: LSUB "Shared." "*"\nS: TAG OK',
];

/** A server with the prefix INBOX. and a shared namespace. */
async function serverWithNamespaces(...more: string[]) {
  const { url } = await playTranscripts(
    [
      "S: * PREAUTH [CAPABILITY IMAP4rev1 NAMESPACE SPECIAL-USE] ready\nC: NAMESPACE",
      'S: * NAMESPACE (("INBOX." ".")) NIL (("Shared." "."))\nS: TAG OK',
      ...listed,
      ...more,
    ].join("\n"),
  );
  const address = parseMailboxUrl(url);
  const stderr = { write: () => true };
  return {
    ...address,
    client: await connect(address, { env: { TRIAGE_IMAP_PASSWORD: "pw" }, stderr }),
  };
}

test("the folders of all namespaces are listed, and only one's own folders have a special use", async () => {
  const { client: session } = await serverWithNamespaces();
  const folders = await listFolders(session);
  expect(folders.map(({ path, specialUse }) => [path, specialUse])).toEqual(
    expect.arrayContaining([
      ["INBOX", "\\Inbox"],
      ["INBOX.Clients", undefined],
      ["Shared.Support", undefined],
      ["Shared.Archive", undefined],
    ]),
  );
  expect(folders.map(({ path }) => path)).not.toContain("INBOX.Old");
  const paths = ["Shared.Support", "Clients", "INBOX/Clients", "Bu\u0308ro", "clients"].map(
    (name) => findListed(name, folders, session)?.path,
  );
  expect(paths).toEqual([
    "Shared.Support",
    "INBOX.Clients",
    "INBOX.Clients",
    "INBOX.B\u00FCro",
    undefined,
  ]);
  session.close();
});

test("the name that a server lists is kept, and a folder that it does not list may be there", async () => {
  const { client: session, account } = await serverWithNamespaces(
    "C: STATUS Hidden\nS: * STATUS Hidden (UIDVALIDITY 7)\nS: TAG OK",
    ...listed,
    ...listed,
    'C: STATUS Nope\nS: TAG NO [NONEXISTENT] none\nC: LIST "" "Nope"\nS: TAG OK',
  );
  expect(await findFolder(session, { folder: "Clients", account })).toBe("INBOX.Clients");
  expect(await findFolder(session, { folder: "Hidden", account })).toBe("Hidden");
  await expect(findFolder(session, { folder: "Nope", account })).rejects.toThrow(
    'has no folder "Nope". It has: INBOX, INBOX.',
  );
  session.close();
});
