import { CliError, printable, withRest } from "evaluator-kit";
import type { ImapFlow, ListResponse } from "imapflow";
import type { MailboxAddress } from "./mailbox-url.ts";

const FOLDERS_SHOWN = 20;

/** Returns the namespaces of a server: the user's first one, and all others that have a prefix. */
function listNamespaces({ namespaces }: ImapFlow) {
  const [ownNamespace, ...moreNamespaces] = namespaces?.personal ?? [];
  const foreign = [...(namespaces?.other || []), ...(namespaces?.shared || [])];
  return {
    own: ownNamespace,
    more: moreNamespaces,
    foreign: foreign.filter(({ prefix }) => prefix !== ""),
  };
}

/** Makes the client send names unchanged: it puts the user's own prefix before all others. */
export function keepNames(client: ImapFlow): void {
  setPrefix(client, "");
}

function setPrefix(client: ImapFlow, namePrefix: string): void {
  // A copy: the namespaces of the server keep the prefix.
  client.namespace = { delimiter: client.namespace?.delimiter ?? null, prefix: namePrefix };
}

/** Lists the folders of all namespaces. Only the user's own ones have a special use. */
export async function listFolders(client: ImapFlow): Promise<ListResponse[]> {
  const { own, more, foreign } = listNamespaces(client);
  const folders = new Map<string, ListResponse>();
  try {
    for (const { prefix } of [own ?? { prefix: "" }, ...more, ...foreign]) {
      setPrefix(client, prefix);
      for (const listedFolder of await client.list()) {
        if (!folders.has(listedFolder.path)) folders.set(listedFolder.path, listedFolder);
      }
    }
  } finally {
    keepNames(client);
  }
  for (const listedFolder of folders.values()) {
    // Mails must not go to the archive of other people.
    if (foreign.some(({ prefix }) => listedFolder.path.startsWith(prefix)))
      delete listedFolder.specialUse;
  }
  return [...folders.values()].filter(({ flags }) => !flags.has("\\Noselect"));
}

/** Returns the names that a folder may have on the server, the given one first. */
export function listSpellings(folderName: string, client: Pick<ImapFlow, "namespaces">): string[] {
  if (folderName.toUpperCase() === "INBOX") return ["INBOX"];
  const { prefix = "", delimiter } = client.namespaces?.personal[0] ?? {};
  const folderPaths = [folderName, ...(delimiter ? [folderName.replaceAll("/", delimiter)] : [])];
  const allPaths = folderPaths.flatMap((folderPath) => [folderPath, `${prefix}${folderPath}`]);
  return [
    ...new Set(
      allPaths.flatMap((folderPath) => [
        folderPath,
        folderPath.normalize("NFC"),
        folderPath.normalize("NFD"),
      ]),
    ),
  ];
}

/** Finds the folder that a name means, as the server lists it. */
export function findListed(
  folderName: string,
  folders: readonly ListResponse[],
  client: ImapFlow,
): ListResponse | undefined {
  const folderByPath = new Map(folders.map((listedFolder) => [listedFolder.path, listedFolder]));
  return listSpellings(folderName, client).flatMap(
    (folderPath) => folderByPath.get(folderPath) ?? [],
  )[0];
}

/** Returns the name of a folder on the server. @throws CliError if the account has no such folder. */
export async function findFolder(
  client: ImapFlow,
  { folder, account }: Pick<MailboxAddress, "folder" | "account">,
): Promise<string> {
  const [firstSpelling = folder] = listSpellings(folder, client);
  if (firstSpelling === "INBOX") return firstSpelling;
  const folders = await listFolders(client);
  const listedFolder = findListed(folder, folders, client);
  if (listedFolder !== undefined) return listedFolder.path;
  // Some servers open folders that they do not list.
  const isThere = await client.status(folder, { uidValidity: true }).catch(() => false);
  if (isThere !== false) return folder;
  const folderNames = withRest(
    Array.from(folders, ({ path }) => path),
    FOLDERS_SHOWN,
  ).join(", ");
  throw new CliError(printable`${account} has no folder "${folder}". It has: ${folderNames}.`);
}
